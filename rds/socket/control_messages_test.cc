// SPDX-License-Identifier: BSD-3-Clause
// The control messages of sendmsg: what each asks for, which go together, where each limit is, and
// which errno comes first.
#include "rds/socket/control_messages.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "rds/socket/test_pages.h"

namespace softdat::rds {
namespace {

// ---- control messages ----

struct Item {
  int level = SOL_RDS;
  int type = 0;
  std::vector<uint8_t> data{};
  int64_t more = 0;  // by how much the length differs from that of the data
};

template <typename T>
std::vector<uint8_t> OctetsOf(const T& value) {
  std::vector<uint8_t> out(sizeof value);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

// A control buffer of exactly the size that its messages need. It starts at an odd address.
class Buffer {
 public:
  explicit Buffer(const std::vector<Item>& items, size_t zeros_behind = 0) : octets_(1) {
    for (const Item& item : items) {
      const size_t length = CMSG_LEN(item.data.size()) + static_cast<size_t>(item.more);
      const auto append = [this](const std::vector<uint8_t>& some) {
        octets_.insert(octets_.end(), some.begin(), some.end());
      };
      octets_.resize(CMSG_ALIGN(octets_.size() - 1) + 1);
      append(OctetsOf(length));
      append(OctetsOf(item.level));
      append(OctetsOf(item.type));
      append(item.data);
      if (item.more > 0) octets_.resize(octets_.size() + static_cast<size_t>(item.more));
    }
    octets_.resize(octets_.size() + zeros_behind);
    octets_.shrink_to_fit();
    message_.msg_control = octets_.data() + 1;
    message_.msg_controllen = octets_.size() - 1;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const msghdr& message() const { return message_; }
  void Cut(size_t octets) { message_.msg_controllen -= octets; }

 private:
  std::vector<uint8_t> octets_;
  msghdr message_{};
};

// The memory that rows name: one page to be written, one to be read, one that is neither, two to be
// written. It outlives the tests.
const Pages& Memory() {
  static const Pages pages("wr-ww");
  return pages;
}
uint64_t Good(uint64_t offset = 0) { return Memory().at(0, offset); }
uint64_t ReadOnly(uint64_t offset = 0) { return Memory().at(1, offset); }
uint64_t Bad(uint64_t offset = 0) { return Memory().at(2, offset); }

// The iovecs of the items made last; they have to last as long as a test.
uint64_t Keep(const std::vector<rds_iovec>& areas) {
  static std::vector<std::vector<rds_iovec>> kept;
  kept.push_back(areas);
  return reinterpret_cast<uint64_t>(kept.back().data());
}

constexpr uint64_t kRead = 0, kWrite = RDS_RDMA_READWRITE;

Item RdmaItem(const rds_rdma_args& args) { return {SOL_RDS, RDS_CMSG_RDMA_ARGS, OctetsOf(args)}; }

Item Rdma(uint64_t remote, const std::vector<rds_iovec>& areas, uint64_t flags = kWrite) {
  rds_rdma_args args{};
  args.cookie = 0x0000'0010'0000'0007;
  args.remote_vec.bytes = remote;
  args.local_vec_addr = Keep(areas);
  args.nr_local = areas.size();
  args.flags = flags;
  return RdmaItem(args);
}

Item Atomic(int type, uint64_t local) {
  rds_atomic_args args{};
  args.local_addr = local;
  return {SOL_RDS, type, OctetsOf(args)};
}

Item Destination(uint64_t cookie = 7) { return {SOL_RDS, RDS_CMSG_RDMA_DEST, OctetsOf(cookie)}; }

Item Map(uint64_t address = 4096, uint64_t bytes = 100) {
  rds_get_mr_args args{};
  args.vec = {address, bytes};
  return {SOL_RDS, RDS_CMSG_RDMA_MAP, OctetsOf(args)};
}

Item ZeroCopy(uint32_t cookie = 5) { return {SOL_RDS, RDS_CMSG_ZCOPY_COOKIE, OctetsOf(cookie)}; }

Item Foreign() { return {SOL_SOCKET, RDS_CMSG_RDMA_STATUS, {1, 2, 3}}; }

Item Plain() { return Rdma(16, {{Good(), 16}}); }
Item FetchAdd() { return Atomic(RDS_CMSG_ATOMIC_FADD, Good()); }
Item CompareSwap() { return Atomic(RDS_CMSG_ATOMIC_CSWP, Good()); }
Item MaskedFetchAdd() { return Atomic(RDS_CMSG_MASKED_ATOMIC_FADD, Good()); }
Item MaskedCompareSwap() { return Atomic(RDS_CMSG_MASKED_ATOMIC_CSWP, Good()); }

Item Longer(Item item, int64_t more) {
  if (more < 0) item.data.resize(item.data.size() - static_cast<size_t>(-more));
  if (more > 0) item.more = more;
  return item;
}

int Parse(const std::vector<Item>& items, SendRequests* out) {
  return ParseSendRequests(Buffer(items).message(), out);
}
int Parse(const std::vector<Item>& items) {
  SendRequests out;
  return Parse(items, &out);
}

// ---- which go together ----

struct Kind {
  const char* name;
  Item (*make)();
};

TEST(ControlMessagesTest, EveryPair) {
  const Kind kinds[] = {
      {"RDMA_ARGS", Plain},
      {"RDMA_DEST", [] { return Destination(); }},
      {"RDMA_MAP", [] { return Map(); }},
      {"ATOMIC_FADD", FetchAdd},
      {"ATOMIC_CSWP", CompareSwap},
      {"MASKED_ATOMIC_FADD", MaskedFetchAdd},
      {"MASKED_ATOMIC_CSWP", MaskedCompareSwap},
      {"ZCOPY_COOKIE", [] { return ZeroCopy(); }},
      {"another level", Foreign},
  };
  // x: EINVAL. Rows and columns in the order above.
  const char* const together[] = {
      "xxx....x.",  //
      "xxxxxxx..",  //
      "xxxxxxx..",  //
      ".xxxxxxx.",  //
      ".xxxxxxx.",  //
      ".xxxxxxx.",  //
      ".xxxxxxx.",  //
      "x..xxxx..",  //
      ".........",  //
  };
  for (size_t i = 0; i < std::size(kinds); ++i) {
    EXPECT_EQ(Parse({kinds[i].make()}), 0) << kinds[i].name;
    for (size_t j = 0; j < std::size(kinds); ++j) {
      SCOPED_TRACE(std::string(kinds[i].name) + ", " + kinds[j].name);
      EXPECT_EQ(Parse({kinds[i].make(), kinds[j].make()}), together[i][j] == 'x' ? EINVAL : 0);
    }
  }
}

TEST(ControlMessagesTest, ThreeOfThem) {
  EXPECT_EQ(Parse({Plain(), FetchAdd(), Foreign()}), 0);
  EXPECT_EQ(Parse({FetchAdd(), Foreign(), Plain()}), 0);
  EXPECT_EQ(Parse({Plain(), FetchAdd(), Plain()}), EINVAL);
  EXPECT_EQ(Parse({Map(), ZeroCopy(), ZeroCopy()}), 0);
  EXPECT_EQ(Parse({Map(), ZeroCopy(), FetchAdd()}), EINVAL);
}

TEST(ControlMessagesTest, TypesThatAreNotSent) {
  for (const int type :
       {-1, 0, 4, 5, 10, 11, 13, 14, 255, 256 + 2, 1 << 16, INT32_MAX, INT32_MIN}) {
    SCOPED_TRACE(type);
    EXPECT_EQ(Parse({{SOL_RDS, type, std::vector<uint8_t>(72)}}), EINVAL);
    EXPECT_EQ(Parse({{SOL_SOCKET, type, std::vector<uint8_t>(72)}}), 0);
    EXPECT_EQ(Parse({Foreign(), {SOL_RDS, type, std::vector<uint8_t>(72)}}), EINVAL);
  }
}

// ---- the buffer ----

TEST(ControlMessagesTest, NoMessages) {
  msghdr message{};
  SendRequests out;
  EXPECT_EQ(ParseSendRequests(message, &out), 0);
  message.msg_controllen = 100;
  EXPECT_EQ(ParseSendRequests(message, &out), 0);
  EXPECT_EQ(RemoteBytes(message), 0u);
  EXPECT_FALSE(out.rdma || out.atomic || out.destination || out.map || out.zero_copy_cookie);
}

TEST(ControlMessagesTest, LengthOfEachType) {
  for (const Item& item : {Plain(), Destination(), Map(), FetchAdd(), CompareSwap(),
                           MaskedFetchAdd(), MaskedCompareSwap(), ZeroCopy()}) {
    SCOPED_TRACE(item.type);
    EXPECT_EQ(Parse({Longer(item, -1)}), EINVAL);
    EXPECT_EQ(Parse({item}), 0);
    EXPECT_EQ(Parse({Longer(item, 1)}), 0);
    EXPECT_EQ(Parse({Longer(item, 100)}), 0);
    EXPECT_EQ(Parse({{SOL_RDS, item.type, {}}}), EINVAL);
  }
}

TEST(ControlMessagesTest, EndOfTheBuffer) {
  struct Row {
    const char* what;
    int64_t more;    // in the length of the last message, which has 8 octets
    size_t missing;  // at the end of the buffer
    size_t behind;   // zeros
    int expected;
  };
  const Row rows[] = {
      {"up to the end", 0, 0, 0, 0},
      {"one octet beyond the end", 0, 1, 0, EINVAL},
      {"without its data", 0, 8, 0, EINVAL},
      {"a part of a header is nothing", 0, 9, 0, 0},
      {"nothing", 0, 24, 0, 0},
      {"a part of a header behind it", 0, 0, 15, 0},
      {"a header of zeros behind it", 0, 0, 16, EINVAL},
      {"as long as its header", -8, 0, 0, EINVAL},
      {"shorter than its header", -9, 0, 0, EINVAL},
      {"no length", -24, 0, 0, EINVAL},
      {"a length below nothing", -25, 0, 0, EINVAL},
      {"a length that wraps when it is rounded up", -26, 0, 0, EINVAL},
      {"the greatest positive length", INT64_MAX - 24, 0, 0, EINVAL},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Item item = Destination();
    // Longer ones get their octets from Buffer, which these do not have.
    Buffer buffer({item}, row.behind);
    const size_t length = CMSG_LEN(8) + static_cast<size_t>(row.more);
    std::memcpy(buffer.message().msg_control, &length, sizeof length);
    buffer.Cut(row.missing);
    SendRequests out;
    EXPECT_EQ(ParseSendRequests(buffer.message(), &out), row.expected);
  }
}

// Levels that are passed over have to be whole, too.
TEST(ControlMessagesTest, EndOfAForeignMessage) {
  Buffer buffer({Destination(), Foreign()});
  SendRequests out;
  EXPECT_EQ(ParseSendRequests(buffer.message(), &out), 0);
  buffer.Cut(1);
  EXPECT_EQ(ParseSendRequests(buffer.message(), &out), EINVAL);
  EXPECT_EQ(Parse({{SOL_SOCKET, 1, {}}}), 0);
}

// The padding of the last message need not be there.
TEST(ControlMessagesTest, Padding) {
  EXPECT_EQ(Parse({ZeroCopy()}), 0);
  EXPECT_EQ(Parse({ZeroCopy(), Destination(), ZeroCopy()}), 0);
  Buffer buffer({Destination(), ZeroCopy()}, 4);
  SendRequests out;
  EXPECT_EQ(ParseSendRequests(buffer.message(), &out), 0);
}

// ---- limits and memory ----

struct Row {
  std::string what;
  std::vector<Item> items;
  int expected;
};

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(Parse(row.items), row.expected);
  }
}

Item Vectors(uint64_t count, uint64_t remote = 1 << 20) {
  return Rdma(remote, std::vector<rds_iovec>(count, {Good(), 1}));
}

// An operation whose iovecs are at this address.
Item VectorsAt(uint64_t address, uint64_t count = 1) {
  rds_rdma_args args{};
  args.remote_vec.bytes = 1 << 20;
  args.local_vec_addr = address;
  args.nr_local = count;
  return RdmaItem(args);
}

TEST(ControlMessagesTest, IovecsOfAnRdmaOperation) {
  const rds_iovec area{Good(512), 8};
  std::memcpy(Memory().pointer(0, kPage - 16), &area, 16);
  std::memcpy(Memory().pointer(0, 101), &area, 16);
  std::memcpy(Memory().pointer(4, kPage - 16), &area, 16);
  Check({
      {"none", {Vectors(0)}, EINVAL},
      {"one", {Vectors(1)}, 0},
      {"1023", {Vectors(1023)}, 0},
      {"1024", {Vectors(1024)}, 0},
      {"1025", {Vectors(1025)}, EMSGSIZE},
      {"2^32 + 1", {VectorsAt(Good(), (uint64_t{1} << 32) + 1)}, EMSGSIZE},
      {"2^60 + 1, which wraps in octets", {VectorsAt(Good(), (uint64_t{1} << 60) + 1)}, EMSGSIZE},
      {"2^64 - 1", {VectorsAt(Good(), UINT64_MAX)}, EMSGSIZE},
      {"not aligned", {VectorsAt(Good(101))}, 0},
      {"the last one of a page", {VectorsAt(Good(kPage - 16))}, 0},
      {"at address 0", {VectorsAt(0)}, EFAULT},
      {"none, at address 0", {VectorsAt(0, 0)}, EINVAL},
      {"too many, at address 0", {VectorsAt(0, 1025)}, EMSGSIZE},
      {"unreadable", {VectorsAt(Bad())}, EFAULT},
      {"the last octet is unreadable", {VectorsAt(Bad() - 15)}, EFAULT},
      {"the second one is unreadable", {VectorsAt(Memory().at(4, kPage - 16), 2)}, EFAULT},
      {"at the end of all addresses", {VectorsAt(UINT64_MAX - 15)}, EFAULT},
      {"beyond the end of all addresses", {VectorsAt(UINT64_MAX - 7)}, EFAULT},
      {"of the kernel", {VectorsAt(uint64_t{1} << 63)}, EFAULT},
  });
}

TEST(ControlMessagesTest, EachIovec) {
  constexpr uint64_t kMany = 1 << 20;
  constexpr uint64_t kFour = uint64_t{1} << 32;
  Check({
      {"empty", {Rdma(kMany, {{Good(), 0}})}, EINVAL},
      {"empty, and at a bad place", {Rdma(kMany, {{Bad(), 0}})}, EINVAL},
      {"the last one is empty", {Rdma(kMany, {{Good(), 8}, {Good(), 0}})}, EINVAL},
      {"one octet", {Rdma(kMany, {{Good(), 1}})}, 0},
      {"4 GB - 1", {Rdma(kMany, {{Good(), kFour - 1}})}, EFAULT},
      {"4 GB", {Rdma(kMany, {{Good(), kFour}})}, EINVAL},
      {"2^64 - 1", {Rdma(kMany, {{Good(), UINT64_MAX}})}, EINVAL},
      {"up to the last octet but one", {Rdma(kMany, {{UINT64_MAX - 15, 15}})}, EFAULT},
      {"up to the last octet", {Rdma(kMany, {{UINT64_MAX - 15, 16}})}, EINVAL},
      {"wraps", {Rdma(kMany, {{UINT64_MAX - 15, 17}})}, EINVAL},
      {"sums that wrap",
       {Rdma(kMany, {{Good(), UINT64_MAX / 2 + 1}, {Good(), UINT64_MAX / 2 + 1}})},
       EINVAL},
  });
}

TEST(ControlMessagesTest, SumsOfAnRdmaOperation) {
  constexpr uint64_t kMegabyte = 1 << 20;
  Check({
      {"less here than there", {Rdma(25, {{Good(), 8}, {Good(8), 16}})}, 0},
      {"as much here as there", {Rdma(24, {{Good(), 8}, {Good(8), 16}})}, 0},
      {"more here than there", {Rdma(23, {{Good(), 8}, {Good(8), 16}})}, EINVAL},
      {"nothing there", {Rdma(0, {{Good(), 1}})}, EINVAL},
      {"1 MB - 1 there", {Rdma(kMegabyte - 1, {{Good(), 1}})}, 0},
      {"1 MB there", {Rdma(kMegabyte, {{Good(), 1}})}, 0},
      {"1 MB + 1 there", {Rdma(kMegabyte + 1, {{Good(), 1}})}, EMSGSIZE},
      {"2^64 - 1 there", {Rdma(UINT64_MAX, {{Good(), 1}})}, EMSGSIZE},
      {"1 MB + 1 there, and no iovecs", {Rdma(kMegabyte + 1, {})}, EMSGSIZE},
  });
}

TEST(ControlMessagesTest, MegabyteOfMemory) {
  const Pages large(std::string((1 << 20) / kPage + 1, 'w'));
  const uint64_t bytes = 1 << 20;
  EXPECT_EQ(Parse({Rdma(bytes, {{large.at(0, 1), bytes}}, kRead)}), 0);
  EXPECT_EQ(Parse({Rdma(bytes, {{large.at(0, 1), bytes + 1}}, kRead)}), EINVAL);
}

TEST(ControlMessagesTest, MemoryOfAnRdmaOperation) {
  Check({
      {"write, from what can be written", {Rdma(64, {{Good(), 8}}, kWrite)}, 0},
      {"read, into what can be written", {Rdma(64, {{Good(), 8}}, kRead)}, 0},
      {"write, from what can be read", {Rdma(64, {{ReadOnly(), 8}}, kWrite)}, 0},
      {"read, into what can only be read", {Rdma(64, {{ReadOnly(), 8}}, kRead)}, EFAULT},
      {"write, from what is neither", {Rdma(64, {{Bad(), 8}}, kWrite)}, EFAULT},
      {"read, into what is neither", {Rdma(64, {{Bad(), 8}}, kRead)}, EFAULT},
      {"write, the last octet is bad", {Rdma(64, {{Bad() - 7, 8}}, kWrite)}, EFAULT},
      {"read, the last octet is bad", {Rdma(64, {{ReadOnly() - 7, 8}}, kRead)}, EFAULT},
      {"read, up to what is bad", {Rdma(64, {{ReadOnly() - 8, 8}}, kRead)}, 0},
      {"write, the second one is bad", {Rdma(64, {{Good(), 8}, {Bad(), 8}}, kWrite)}, EFAULT},
      {"write, address 0", {Rdma(64, {{0, 8}}, kWrite)}, EFAULT},
      {"read, address 0", {Rdma(64, {{0, 8}}, kRead)}, EFAULT},
  });
}

TEST(ControlMessagesTest, MemoryOfAtomics) {
  for (const int type : {RDS_CMSG_ATOMIC_FADD, RDS_CMSG_ATOMIC_CSWP, RDS_CMSG_MASKED_ATOMIC_FADD,
                         RDS_CMSG_MASKED_ATOMIC_CSWP}) {
    SCOPED_TRACE(type);
    for (uint64_t offset = 0; offset <= 8; ++offset) {
      EXPECT_EQ(Parse({Atomic(type, Good(offset))}), offset % 8 == 0 ? 0 : EFAULT) << offset;
    }
    EXPECT_EQ(Parse({Atomic(type, Good(kPage - 8))}), 0);
    for (const uint64_t bad : {ReadOnly(), Bad(), uint64_t{0}, uint64_t{1} << 63, UINT64_MAX - 7}) {
      EXPECT_EQ(Parse({Atomic(type, bad)}), EFAULT) << std::hex << bad;
    }
  }
}

// Nothing is written: the old value comes only when the operation has been carried out.
TEST(ControlMessagesTest, MemoryStaysAsItIs) {
  uint64_t word = 0x1122334455667788;
  const auto address = reinterpret_cast<uint64_t>(&word);
  EXPECT_EQ(Parse({Atomic(RDS_CMSG_ATOMIC_FADD, address), Rdma(8, {{address, 8}}, kRead)}), 0);
  EXPECT_EQ(word, 0x1122334455667788u);
}

// ---- which errno comes first ----

TEST(ControlMessagesTest, TheFirstErrorOfSeveral) {
  const Item unknown{SOL_RDS, 99, {}};
  const Item bad_memory = Rdma(8, {{Bad(), 8}});
  const Item not_aligned = Atomic(RDS_CMSG_ATOMIC_FADD, Good(4));
  Check({
      {"of two messages with bad shapes the first: unknown", {unknown, Vectors(1025)}, EINVAL},
      {"of two messages with bad shapes the first: iovecs", {Vectors(1025), unknown}, EMSGSIZE},
      {"unreadable iovecs before an unknown type", {VectorsAt(0), unknown}, EFAULT},
      {"an unknown type before bad memory", {bad_memory, unknown}, EINVAL},
      {"an unknown type before alignment", {not_aligned, unknown}, EINVAL},
      {"a combination before bad memory", {bad_memory, Destination()}, EINVAL},
      {"a combination before alignment", {not_aligned, ZeroCopy()}, EINVAL},
      {"iovecs before a combination", {Destination(), Vectors(1025)}, EMSGSIZE},
      {"unreadable iovecs before a combination", {Destination(), VectorsAt(Bad())}, EFAULT},
      {"bad memory of the first before there is a second", {bad_memory, bad_memory}, EFAULT},
      {"that there is a second before its bad memory", {Plain(), bad_memory}, EINVAL},
      {"alignment of the first before there is a second", {not_aligned, FetchAdd()}, EFAULT},
      {"that there is a second before its alignment", {FetchAdd(), not_aligned}, EINVAL},
      {"bad memory before the sum", {Rdma(7, {{Bad(), 8}})}, EFAULT},
      {"bad memory, then the sum", {bad_memory, Atomic(RDS_CMSG_ATOMIC_FADD, 1)}, EFAULT},
  });
}

// ---- what they ask for ----

TEST(ControlMessagesTest, RdmaOperation) {
  rds_rdma_args args{};
  args.cookie = 0x0000'0234'89AB'CDEF;
  args.remote_vec = {0x1000, 600};
  const std::vector<rds_iovec> areas = {{Good(1), 100}, {Good(200), 1}, {Good(), kPage / 16}};
  args.local_vec_addr = Keep(areas);
  args.nr_local = areas.size();
  args.user_token = 0xFEDC'BA98'7654'3210;
  SendRequests out;
  ASSERT_EQ(Parse({RdmaItem(args)}, &out), 0);
  ASSERT_TRUE(out.rdma);
  EXPECT_FALSE(out.atomic || out.destination || out.map || out.zero_copy_cookie);
  EXPECT_EQ(out.rdma->cookie, args.cookie);
  EXPECT_EQ(out.rdma->offset, 0x1000u);
  EXPECT_EQ(out.rdma->local,
            (std::vector<Area>{{Good(1), 100}, {Good(200), 1}, {Good(), kPage / 16}}));
  EXPECT_EQ(out.rdma->bytes, 101 + kPage / 16);
  EXPECT_EQ(out.rdma->token, args.user_token);
}

TEST(ControlMessagesTest, FlagsOfOperations) {
  for (int bit = 0; bit < 64; ++bit) {
    SCOPED_TRACE(bit);
    const uint64_t flag = uint64_t{1} << bit;
    SendRequests out;
    rds_atomic_args args{};
    args.local_addr = Good();
    args.flags = flag;
    const Item atomic{SOL_RDS, RDS_CMSG_ATOMIC_FADD, OctetsOf(args)};
    ASSERT_EQ(Parse({Rdma(8, {{Good(), 8}}, flag), atomic}, &out), 0);
    EXPECT_EQ(out.rdma->write, flag == 0x01);
    EXPECT_EQ(out.rdma->fence, flag == 0x02);
    EXPECT_EQ(out.rdma->notify, flag == 0x20);
    EXPECT_EQ(out.rdma->silent, flag == 0x40);
    EXPECT_EQ(out.atomic->notify, flag == 0x20);
    EXPECT_EQ(out.atomic->silent, flag == 0x40);
  }
}

TEST(ControlMessagesTest, Atomics) {
  // Octets 24 to 55 of the structure are four numbers, whose meaning the type tells.
  rds_atomic_args args{};
  args.cookie = 11;
  args.local_addr = Good(16);
  args.remote_addr = 12;
  args.m_cswp = {1, 2, 3, 4};
  args.user_token = 13;
  struct Expected {
    int type;
    AtomicOperation::Kind kind;
    uint64_t compare, swap_or_add, nocarry, compare_mask, swap_mask;
    bool masked;
  };
  constexpr auto kAdd = AtomicOperation::Kind::kFetchAdd;
  constexpr auto kSwap = AtomicOperation::Kind::kCompareSwap;
  constexpr uint64_t kAll = UINT64_MAX;
  for (const Expected& e : {
           Expected{RDS_CMSG_ATOMIC_FADD, kAdd, 0, 1, 0, kAll, kAll, false},
           Expected{RDS_CMSG_ATOMIC_CSWP, kSwap, 1, 2, 0, kAll, kAll, false},
           Expected{RDS_CMSG_MASKED_ATOMIC_FADD, kAdd, 0, 1, 2, kAll, kAll, true},
           Expected{RDS_CMSG_MASKED_ATOMIC_CSWP, kSwap, 1, 2, 0, 3, 4, true},
       }) {
    SCOPED_TRACE(e.type);
    SendRequests out;
    ASSERT_EQ(Parse({{SOL_RDS, e.type, OctetsOf(args)}}, &out), 0);
    ASSERT_TRUE(out.atomic);
    EXPECT_FALSE(out.rdma);
    EXPECT_EQ(out.atomic->kind, e.kind);
    EXPECT_EQ(out.atomic->cookie, 11u);
    EXPECT_EQ(out.atomic->offset, 12u);
    EXPECT_EQ(out.atomic->local, Good(16));
    EXPECT_EQ(out.atomic->token, 13u);
    EXPECT_EQ(out.atomic->compare, e.compare);
    EXPECT_EQ(out.atomic->swap_or_add, e.swap_or_add);
    EXPECT_EQ(out.atomic->nocarry_mask, e.nocarry);
    EXPECT_EQ(out.atomic->compare_mask, e.compare_mask);
    EXPECT_EQ(out.atomic->swap_mask, e.swap_mask);
    EXPECT_EQ(out.atomic->masked(), e.masked);
  }
}

// Masks that leave everything as it would be without.
TEST(ControlMessagesTest, MasksWithoutEffect) {
  rds_atomic_args args{};
  args.local_addr = Good();
  args.m_fadd = {7, 0};
  SendRequests out;
  ASSERT_EQ(Parse({{SOL_RDS, RDS_CMSG_MASKED_ATOMIC_FADD, OctetsOf(args)}}, &out), 0);
  EXPECT_FALSE(out.atomic->masked());
  args.m_cswp = {1, 2, UINT64_MAX, UINT64_MAX};
  ASSERT_EQ(Parse({{SOL_RDS, RDS_CMSG_MASKED_ATOMIC_CSWP, OctetsOf(args)}}, &out), 0);
  EXPECT_FALSE(out.atomic->masked());
}

TEST(ControlMessagesTest, Regions) {
  // The area is the caller's to check: here there is nothing at it.
  rds_get_mr_args args{};
  args.vec = {0x1234, UINT64_MAX};
  args.cookie_addr = 0x5678;
  for (int bit = 0; bit < 64; ++bit) {
    SCOPED_TRACE(bit);
    args.flags = uint64_t{1} << bit;
    SendRequests out;
    ASSERT_EQ(Parse({{SOL_RDS, RDS_CMSG_RDMA_MAP, OctetsOf(args)}}, &out), 0);
    ASSERT_TRUE(out.map);
    EXPECT_EQ(out.map->area, (Area{0x1234, UINT64_MAX}));
    EXPECT_EQ(out.map->cookie_address, 0x5678u);
    EXPECT_EQ(out.map->invalidate, args.flags == 0x04);
    EXPECT_EQ(out.map->use_once, args.flags == 0x08);
  }
}

TEST(ControlMessagesTest, Cookies) {
  SendRequests out;
  ASSERT_EQ(Parse({Destination(0x0123'4567'89AB'CDEF), ZeroCopy(0), ZeroCopy(9)}, &out), 0);
  EXPECT_EQ(out.destination, uint64_t{0x0123'4567'89AB'CDEF});
  EXPECT_EQ(out.zero_copy_cookie, 9u);
  ASSERT_EQ(Parse({Destination(0)}, &out), 0);
  EXPECT_EQ(out.destination, 0u);
  EXPECT_FALSE(out.zero_copy_cookie) << "of the call before";
}

TEST(ControlMessagesTest, RemoteBytes) {
  const auto sum = [](const std::vector<Item>& items) {
    return RemoteBytes(Buffer(items).message());
  };
  Item foreign = Rdma(5, {});
  foreign.level = SOL_SOCKET;
  EXPECT_EQ(sum({}), 0u);
  EXPECT_EQ(sum({Rdma(5, {})}), 5u);
  EXPECT_EQ(sum({Rdma(5, {}), Destination(), Rdma(1 << 20, {})}), (1u << 20) + 5);
  EXPECT_EQ(sum({Rdma(UINT64_MAX, {}), Rdma(1, {})}), UINT64_MAX);
  EXPECT_EQ(sum({Rdma(UINT64_MAX, {}), Rdma(2, {})}), UINT64_MAX);
  EXPECT_EQ(sum({FetchAdd(), foreign}), 0u);
  EXPECT_EQ(sum({Longer(Rdma(5, {}), -1), Rdma(6, {})}), 6u);
  Buffer cut({Rdma(5, {}), Rdma(6, {})});
  cut.Cut(1);
  EXPECT_EQ(RemoteBytes(cut.message()), 5u);
}

}  // namespace
}  // namespace softdat::rds
