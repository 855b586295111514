// SPDX-License-Identifier: BSD-3-Clause
// Unit tests of handle tables and IA handles.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <vector>

#include "dat/registry/handle_tables.h"
#include "dat/registry/ia_handles.h"

namespace softdat::registry {
namespace {

struct Object {
  const DAT_PROVIDER* table;
  long more;
};

class HandleTablesTest : public testing::Test {
 protected:
  std::unique_ptr<HandleTables> tables_ = std::make_unique<HandleTables>();
  DAT_PROVIDER provider_{};
  Object arena_[8] = {};
};

TEST_F(HandleTablesTest, ArenaObjectsWithTheirTableAreFound) {
  ASSERT_TRUE(tables_->AddTable(&provider_, true));
  ASSERT_TRUE(tables_->AddArena(arena_, sizeof arena_));
  arena_[0].table = &provider_;
  arena_[7].table = &provider_;
  EXPECT_EQ(tables_->Find(&arena_[0]).table, &provider_);
  EXPECT_TRUE(tables_->Find(&arena_[7]).has_extensions);
  EXPECT_FALSE(tables_->Find(&arena_[3])) << "first word is zero";
  EXPECT_FALSE(tables_->Find(&arena_[8])) << "one beyond";
  EXPECT_FALSE(tables_->Find(reinterpret_cast<char*>(&arena_[0]) + 1)) << "misaligned";
  EXPECT_FALSE(tables_->Find(nullptr));
  tables_->RemoveTable(&provider_);
  EXPECT_FALSE(tables_->Find(&arena_[0]));
}

TEST_F(HandleTablesTest, NothingIsFoundWithoutTheArena) {
  ASSERT_TRUE(tables_->AddTable(&provider_, true));
  ASSERT_TRUE(tables_->AddArena(arena_, sizeof arena_));
  arena_[0].table = &provider_;
  tables_->RemoveArena(arena_);
  EXPECT_FALSE(tables_->Find(&arena_[0]));
}

TEST_F(HandleTablesTest, SmallWordsInAnArenaAreNoTables) {
  ASSERT_TRUE(tables_->AddTable(&provider_, false));
  tables_->RemoveTable(&provider_);
  ASSERT_TRUE(tables_->AddArena(arena_, sizeof arena_));
  for (uintptr_t word = 0; word < 64; ++word) {
    arena_[0].table = reinterpret_cast<const DAT_PROVIDER*>(word);
    EXPECT_FALSE(tables_->Find(&arena_[0])) << word;
  }
}

TEST_F(HandleTablesTest, ForeignHandlesAreProbed) {
  ASSERT_TRUE(tables_->AddTable(&provider_, false));
  auto object = std::make_unique<Object>();
  object->table = &provider_;
  EXPECT_FALSE(tables_->Find(object.get())) << "no foreign provider is known";
  tables_->SetForeignProviders(1);
  EXPECT_EQ(tables_->Find(object.get()).table, &provider_);
  EXPECT_EQ(tables_->Find(object.get()).table, &provider_);
  object->table = nullptr;
  EXPECT_FALSE(tables_->Find(object.get())) << "remembered, but its table is gone";
  tables_->Forget(object.get());
  EXPECT_FALSE(tables_->Find(object.get()));
}

// A table that fills every slot of the data path.
DAT_PROVIDER CompleteTable() {
  DAT_PROVIDER t{};
  const auto nothing = [](auto...) -> DAT_RETURN { return DAT_SUCCESS; };
  t.ep_post_send_func = nothing;
  t.ep_post_recv_func = nothing;
  t.ep_post_rdma_read_func = nothing;
  t.ep_post_rdma_write_func = nothing;
  t.ep_post_send_with_invalidate_func = nothing;
  t.ep_post_rdma_read_to_rmr_func = nothing;
  t.srq_post_recv_func = nothing;
  t.rmr_bind_func = nothing;
  t.evd_dequeue_func = nothing;
  t.evd_wait_func = nothing;
  return t;
}

TEST_F(HandleTablesTest, NothingIsFoundAtOnceThatWasNotAskedForBefore) {
  provider_ = CompleteTable();
  ASSERT_TRUE(tables_->AddTable(&provider_, true));
  ASSERT_TRUE(tables_->AddArena(arena_, sizeof arena_));
  tables_->SetForeignProviders(1);
  arena_[0].table = arena_[1].table = &provider_;
  // The junk includes what empty places hold or could hold.
  for (uintptr_t value : {uintptr_t{0}, uintptr_t{1}, uintptr_t{8}, uintptr_t{16}, ~uintptr_t{0},
                          ~uintptr_t{7}, ~uintptr_t{15}, uintptr_t{1} << 17}) {
    auto* const junk = reinterpret_cast<DAT_HANDLE>(value);
    EXPECT_EQ(tables_->FindAtOnce(junk), nullptr) << value;
    EXPECT_FALSE(tables_->FindAndRemember(junk)) << value;
    EXPECT_EQ(tables_->FindAtOnce(junk), nullptr) << value;
  }
  EXPECT_EQ(tables_->FindAtOnce(&arena_[0]), nullptr);
  EXPECT_EQ(tables_->FindAndRemember(&arena_[0]).table, &provider_);
  EXPECT_EQ(tables_->FindAtOnce(&arena_[0]), &provider_);
  EXPECT_EQ(tables_->FindAtOnce(&arena_[1]), nullptr);
}

TEST_F(HandleTablesTest, WhatIsFoundAtOnceIsForgotten) {
  provider_ = CompleteTable();
  auto object = std::make_unique<Object>();
  const auto remember = [&] {
    EXPECT_TRUE(tables_->AddTable(&provider_, false));
    tables_->SetForeignProviders(1);
    object->table = &provider_;
    EXPECT_TRUE(tables_->FindAndRemember(object.get()));
    EXPECT_EQ(tables_->FindAtOnce(object.get()), &provider_);
  };
  remember();
  object->table = nullptr;
  EXPECT_EQ(tables_->FindAtOnce(object.get()), nullptr) << "its provider has freed it";
  remember();
  tables_->Forget(object.get());
  EXPECT_EQ(tables_->FindAtOnce(object.get()), nullptr);
  remember();
  tables_->ForgetAll();
  EXPECT_EQ(tables_->FindAtOnce(object.get()), nullptr);
  remember();
  tables_->RemoveTable(&provider_);
  EXPECT_EQ(tables_->FindAtOnce(object.get()), nullptr);
  remember();
  tables_->Clear();
  EXPECT_EQ(tables_->FindAtOnce(object.get()), nullptr);
}

TEST_F(HandleTablesTest, HandlesOfOnePlaceReplaceOneAnother) {
  provider_ = CompleteTable();
  ASSERT_TRUE(tables_->AddTable(&provider_, true));
  // There are many more objects than places. All must be found, whichever are found at once.
  std::vector<Object> many(20'000);
  ASSERT_TRUE(tables_->AddArena(many.data(), many.size() * sizeof(Object)));
  for (Object& object : many) object.table = &provider_;
  for (int round = 0; round < 2; ++round) {
    for (Object& object : many) {
      ASSERT_EQ(tables_->FindAndRemember(&object).table, &provider_);
      ASSERT_EQ(tables_->FindAtOnce(&object), &provider_);
    }
  }
}

TEST_F(HandleTablesTest, ATableWithAnEmptySlotIsNotFoundAtOnce) {
  provider_ = CompleteTable();
  provider_.rmr_bind_func = nullptr;
  ASSERT_TRUE(tables_->AddTable(&provider_, true));
  ASSERT_TRUE(tables_->AddArena(arena_, sizeof arena_));
  arena_[0].table = &provider_;
  EXPECT_EQ(tables_->FindAndRemember(&arena_[0]).table, &provider_);
  EXPECT_EQ(tables_->FindAtOnce(&arena_[0]), nullptr);
}

TEST_F(HandleTablesTest, UnreadableAddressesAreRefused) {
  ASSERT_TRUE(tables_->AddTable(&provider_, false));
  tables_->SetForeignProviders(1);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory = static_cast<char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
  auto* object = reinterpret_cast<Object*>(memory);
  object->table = &provider_;
  EXPECT_TRUE(tables_->Find(object));
  EXPECT_FALSE(tables_->Find(memory + page));
  ASSERT_EQ(munmap(memory, 2 * page), 0);
  tables_->ForgetAll();
  EXPECT_FALSE(tables_->Find(memory));
  for (uintptr_t value : {uintptr_t{1}, uintptr_t{8}, uintptr_t{4088}, ~uintptr_t{7},
                          uintptr_t{1} << 63, uintptr_t{0x7ffffffff000}}) {
    EXPECT_FALSE(tables_->Find(reinterpret_cast<DAT_HANDLE>(value))) << value;
  }
}

TEST_F(HandleTablesTest, RoomForTablesIsBoundedAndReusable) {
  std::vector<DAT_PROVIDER> many(HandleTables::kMaxTables + 1);
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < HandleTables::kMaxTables; ++i) {
      ASSERT_TRUE(tables_->AddTable(&many[i], false));
    }
    EXPECT_FALSE(tables_->AddTable(&many.back(), false));
    EXPECT_TRUE(tables_->AddTable(&many[0], false)) << "it is there already";
    for (size_t i = 0; i < HandleTables::kMaxTables; ++i) {
      ASSERT_TRUE(tables_->FindTable(reinterpret_cast<uintptr_t>(&many[i])));
      tables_->RemoveTable(&many[i]);
      ASSERT_FALSE(tables_->FindTable(reinterpret_cast<uintptr_t>(&many[i])));
    }
  }
}

TEST_F(HandleTablesTest, RoomForArenasIsBounded) {
  std::vector<Object> many(HandleTables::kMaxArenas + 1);
  for (size_t i = 0; i < HandleTables::kMaxArenas; ++i) {
    ASSERT_TRUE(tables_->AddArena(&many[i], sizeof many[i]));
  }
  EXPECT_FALSE(tables_->AddArena(&many.back(), sizeof many.back()));
  tables_->RemoveArena(&many[3]);
  EXPECT_TRUE(tables_->AddArena(&many.back(), sizeof many.back()));
}

TEST_F(HandleTablesTest, ClearLeavesNothingValid) {
  ASSERT_TRUE(tables_->AddTable(&provider_, false));
  ASSERT_TRUE(tables_->AddArena(arena_, sizeof arena_));
  arena_[0].table = &provider_;
  tables_->Clear();
  EXPECT_FALSE(tables_->Find(&arena_[0]));
}

TEST(ReadWordSafely, ReadsOrRefuses) {
  uintptr_t value = 42;
  uintptr_t word = 0;
  EXPECT_TRUE(ReadWordSafely(reinterpret_cast<uintptr_t>(&value), &word));
  EXPECT_EQ(word, 42u);
  EXPECT_FALSE(ReadWordSafely(8, &word));
  EXPECT_FALSE(ReadWordSafely(~uintptr_t{7}, &word));
}

DAT_IA_HANDLE Integer(uintptr_t index) { return reinterpret_cast<DAT_IA_HANDLE>(index); }

class IaHandlesTest : public testing::Test {
 protected:
  std::unique_ptr<IaHandles> handles_ = std::make_unique<IaHandles>();
  Object objects_[4] = {};
  int owner_ = 0;
};

// covers: semantics 2.4
TEST_F(IaHandlesTest, LowestFreeIntegerIsTaken) {
  for (uintptr_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(handles_->Reserve(), i);
    handles_->Publish(i, &objects_[i], &owner_);
  }
  handles_->Release(2);
  EXPECT_EQ(handles_->Find(Integer(2)), nullptr);
  EXPECT_EQ(handles_->Reserve(), 2u);
  EXPECT_EQ(handles_->Reserve(), 4u);
}

// covers: semantics 2.4
TEST_F(IaHandlesTest, TranslatesBothWays) {
  ASSERT_EQ(handles_->Reserve(), 1u);
  EXPECT_EQ(handles_->Find(Integer(1)), nullptr) << "reserved, not open";
  handles_->Publish(1, &objects_[0], &owner_);
  EXPECT_EQ(handles_->Find(Integer(1)), &objects_[0]);
  EXPECT_EQ(handles_->FindObject(&objects_[0]), Integer(1));
  EXPECT_EQ(handles_->FindObject(&objects_[1]), nullptr);
  EXPECT_EQ(handles_->Owner(Integer(1)), &owner_);
  for (uintptr_t bad : {uintptr_t{0}, uintptr_t{2}, IaHandles::kLimit, ~uintptr_t{0}}) {
    EXPECT_EQ(handles_->Find(Integer(bad)), nullptr) << bad;
    EXPECT_EQ(handles_->FindObject(Integer(bad)), nullptr) << bad;
  }
  EXPECT_EQ(handles_->Find(&objects_[0]), nullptr);
}

TEST_F(IaHandlesTest, OnlyOneCloseBegins) {
  ASSERT_EQ(handles_->Reserve(), 1u);
  DAT_IA_HANDLE object = nullptr;
  void* owner = nullptr;
  EXPECT_FALSE(handles_->BeginClose(Integer(1), &object, &owner)) << "not open yet";
  handles_->Publish(1, &objects_[0], &owner_);
  EXPECT_TRUE(handles_->BeginClose(Integer(1), &object, &owner));
  EXPECT_EQ(object, &objects_[0]);
  EXPECT_EQ(owner, &owner_);
  EXPECT_FALSE(handles_->BeginClose(Integer(1), &object, &owner));
  EXPECT_EQ(handles_->FindObject(&objects_[0]), Integer(1)) << "the provider still translates";
  handles_->CancelClose(1);
  EXPECT_TRUE(handles_->BeginClose(Integer(1), &object, &owner));
  handles_->Release(1);
  EXPECT_FALSE(handles_->BeginClose(Integer(1), &object, &owner));
}

TEST_F(IaHandlesTest, NewIaAtTheAddressOfAClosingOneIsFoundFirst) {
  ASSERT_EQ(handles_->Reserve(), 1u);
  handles_->Publish(1, &objects_[0], &owner_);
  DAT_IA_HANDLE object = nullptr;
  void* owner = nullptr;
  ASSERT_TRUE(handles_->BeginClose(Integer(1), &object, &owner));
  ASSERT_EQ(handles_->Reserve(), 2u);
  handles_->Publish(2, &objects_[0], &owner_);
  EXPECT_EQ(handles_->FindObject(&objects_[0]), Integer(2));
}

TEST_F(IaHandlesTest, TheTableIsBounded) {
  for (uintptr_t i = 1; i < IaHandles::kLimit; ++i) ASSERT_EQ(handles_->Reserve(), i);
  EXPECT_EQ(handles_->Reserve(), 0u);
  handles_->Release(77);
  EXPECT_EQ(handles_->Reserve(), 77u);
}

TEST_F(IaHandlesTest, ThreadsGetDifferentIntegers) {
  std::vector<std::thread> threads;
  std::vector<std::vector<uintptr_t>> taken(4);
  for (auto& mine : taken) {
    threads.emplace_back([this, &mine] {
      for (int i = 0; i < 200; ++i) mine.push_back(handles_->Reserve());
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<bool> seen(1000);
  for (const auto& mine : taken) {
    for (uintptr_t index : mine) {
      ASSERT_TRUE(index >= 1 && index <= 800);
      EXPECT_FALSE(seen[index]);
      seen[index] = true;
    }
  }
}

}  // namespace
}  // namespace softdat::registry
