// SPDX-License-Identifier: BSD-3-Clause
// What rds-rdma(7) promises of RDMA and cookies, between two processes. docs/rds.md lists the
// sentences of the manual with these tests.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <numeric>

#include "tests/rds/af_rds.h"

namespace softdat::rds_test {
namespace {

constexpr uint64_t kWrite = RDS_RDMA_READWRITE;
constexpr uint64_t kNotify = RDS_RDMA_NOTIFY_ME;
constexpr uint64_t kFence = RDS_RDMA_FENCE;

std::vector<uint8_t> Counting(size_t size, uint8_t first = 1) {
  std::vector<uint8_t> out(size);
  std::iota(out.begin(), out.end(), first);
  return out;
}

// A server that does what `serve` says, and the client's socket, which is the test's.
class RdmaTest : public testing::Test {
 protected:
  using Serve = std::function<void(int socket, int line)>;

  void Start(const Serve& serve) {
    server_ = std::make_unique<Process>([serve](int line) {
      const Rds socket = Rds::Bound();
      Tell(line, socket.port());
      serve(socket, line);
      // The client may still want what was sent.
      Tell(line, 0);
      Hear(line);
    });
    server_name_ = AddressOf(static_cast<uint16_t>(Hear(server_->line())));
    client_ = std::make_unique<Rds>(Rds::Bound());
  }
  // The server has done what it was to do. Ends it.
  void Finish() {
    EXPECT_EQ(Hear(server_->line()), 0u);
    Tell(server_->line(), 0);
    server_->Join();
  }
  // A request that opens `memory`.
  rds_rdma_cookie_t Request(void* memory, size_t size, uint64_t flags = 0) {
    rds_rdma_cookie_t cookie = 0;
    Controls controls;
    controls.Map(memory, size, &cookie, flags);
    EXPECT_EQ(Send(*client_, server_name_, "request", controls), 7);
    EXPECT_NE(cookie, 0u);
    return cookie;
  }
  int Free(rds_rdma_cookie_t cookie, uint64_t flags = 0) {
    const rds_free_mr_args args{cookie, flags};
    return setsockopt(*client_, SOL_RDS, RDS_FREE_MR, &args, sizeof args) == 0 ? 0 : errno;
  }
  static int Get(int socket, void* at, size_t size, rds_rdma_cookie_t* cookie, uint64_t flags = 0) {
    if (KernelDiffers("RDS_GET_MR")) return MapToItself(socket, at, size, cookie, flags);
    rds_get_mr_args args{};
    args.vec = Piece(at, size);
    args.cookie_addr = reinterpret_cast<uintptr_t>(cookie);
    args.flags = flags;
    return setsockopt(socket, SOL_RDS, RDS_GET_MR, &args, sizeof args) == 0 ? 0 : errno;
  }

  // Opens memory by a message to the socket itself.
  static int MapToItself(int socket, void* at, size_t size, rds_rdma_cookie_t* cookie,
                         uint64_t flags) {
    sockaddr_in name{};
    socklen_t length = sizeof name;
    EXPECT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&name), &length), 0);
    if (name.sin_family == AF_UNSPEC) name = AddressOf(4000);
    Controls controls;
    controls.Map(at, size, cookie, flags);
    const ssize_t sent = Send(socket, name, "", controls);
    if (sent == 0) Receive(socket);
    return static_cast<int>(-sent);
  }

  std::unique_ptr<Process> server_;
  std::unique_ptr<Rds> client_;
  sockaddr_in server_name_{};
};

// 2, 6 to 8, 16, 18 to 20, 46.
TEST_F(RdmaTest, AServerWritesIntoTheMemoryOfARequest) {
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    ASSERT_TRUE(request.cookie);
    EXPECT_EQ(request.payload, "request");
    const auto data = Counting(5000);
    EXPECT_EQ(Send(socket, request.from, "done",
                   Controls().Rdma(*request.cookie, 0, 5000, {Piece(data.data(), 5000)},
                                   kWrite | kNotify)),
              4);
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
  });
  std::vector<uint8_t> memory(5000);
  Request(memory.data(), memory.size());
  EXPECT_EQ(ReceiveMessage(*client_).payload, "done");
  EXPECT_EQ(memory, Counting(5000));
  Finish();
}

// 10, 46 to 49: with the fence, what comes says that the read is over.
TEST_F(RdmaTest, AServerReadsTheMemoryOfARequest) {
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    ASSERT_TRUE(request.cookie);
    std::vector<uint8_t> data(100000);
    EXPECT_EQ(Send(socket, request.from, "done",
                   Controls().Rdma(*request.cookie, 0, data.size(),
                                   {Piece(data.data(), data.size())}, kFence | kNotify, 7)),
              4);
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
    EXPECT_EQ(data, Counting(100000));
  });
  std::vector<uint8_t> memory = Counting(100000);
  Request(memory.data(), memory.size());
  EXPECT_EQ(ReceiveMessage(*client_).payload, "done");
  std::fill(memory.begin(), memory.end(), uint8_t{0});
  Finish();
}

// 3, 31: neither end has to be aligned.
TEST_F(RdmaTest, NothingNeedsToBeAligned) {
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    ASSERT_TRUE(request.cookie);
    const auto data = Counting(4001);
    EXPECT_EQ(
        Send(socket, request.from, "done",
             Controls().Rdma(*request.cookie, 3, 3001,
                             {Piece(&data[1], 1), Piece(&data[7], 2999), Piece(&data[4000], 1)},
                             kWrite | kNotify)),
        4);
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
  });
  std::vector<uint8_t> memory(5000);
  Request(&memory[13], 4000);
  ReceiveMessage(*client_);
  const auto data = Counting(4001);
  EXPECT_EQ(memory[15], 0);
  EXPECT_EQ(memory[16], data[1]);
  EXPECT_EQ(memory[17], data[7]);
  EXPECT_EQ(memory[16 + 2999], data[7 + 2998]);
  EXPECT_EQ(memory[16 + 3000], data[4000]);
  EXPECT_EQ(memory[16 + 3001], 0);
  Finish();
}

// 4, 5, 17, 31, 32: the cookie is the same at both ends.
TEST_F(RdmaTest, ACookieTravelsUnchanged) {
  Start([](int socket, int line) {
    for (int i = 0; i < 2; ++i) Tell(line, ReceiveMessage(socket).cookie.value_or(0));
  });
  std::vector<uint8_t> memory(100);
  const rds_rdma_cookie_t mapped = Request(memory.data(), memory.size());
  EXPECT_EQ(Hear(server_->line()), mapped);
  rds_rdma_cookie_t got = 0;
  ASSERT_EQ(Get(*client_, memory.data(), 50, &got), 0);
  EXPECT_EQ(Send(*client_, server_name_, "x", Controls().Destination(got)), 1);
  EXPECT_EQ(Hear(server_->line()), got);
  Finish();
}

// 43: the array of areas is the program's again when sendmsg returns.
TEST_F(RdmaTest, TheArrayOfAreasIsReadDuringTheCall) {
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(64);
    std::vector<rds_iovec> areas{Piece(data.data(), 64)};
    rds_rdma_args args{};
    args.cookie = request.cookie.value_or(0);
    args.remote_vec = {0, 64};
    args.local_vec_addr = reinterpret_cast<uintptr_t>(areas.data());
    args.nr_local = 1;
    args.flags = kWrite | kNotify;
    Send(socket, request.from, "done", Controls().Add(RDS_CMSG_RDMA_ARGS, &args, sizeof args));
    areas[0] = {0, 0};
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
  });
  std::vector<uint8_t> memory(64);
  Request(memory.data(), memory.size());
  ReceiveMessage(*client_);
  EXPECT_EQ(memory, Counting(64));
  Finish();
}

// 45: a local sum that is smaller is what is moved.
TEST_F(RdmaTest, TheLocalSumIsMoved) {
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(200);
    EXPECT_EQ(Send(socket, request.from, "done",
                   Controls().Rdma(request.cookie.value_or(0), 0, 200, {Piece(data.data(), 100)},
                                   kWrite | kNotify)),
              4);
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
  });
  std::vector<uint8_t> memory(200);
  Request(memory.data(), memory.size());
  ReceiveMessage(*client_);
  EXPECT_EQ(memory[99], 100);
  EXPECT_EQ(memory[100], 0);
  Finish();
}

// 21, 50 to 53, 58, 59: one status for each operation, with its token, in the order of their ends.
TEST_F(RdmaTest, StatusesComeWithTheirTokens) {
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(8);
    const uint64_t tokens[] = {0, ~uint64_t{0}, 0, 1};
    for (const uint64_t token : tokens) {
      Send(socket, request.from, "x",
           Controls().Rdma(request.cookie.value_or(0), 0, 8, {Piece(data.data(), 8)},
                           kWrite | kNotify, token));
    }
    for (const uint64_t token : tokens) {
      const rds_rdma_notify told = ReceiveStatus(socket);
      EXPECT_EQ(told.user_token, token);
      EXPECT_EQ(told.status, RDS_RDMA_SUCCESS);
    }
  });
  std::vector<uint8_t> memory(8);
  Request(memory.data(), memory.size());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ReceiveMessage(*client_).payload, "x");
  Finish();
}

// 22: as many statuses as there is room for, and messages behind all of them.
TEST_F(RdmaTest, StatusesComeBeforeMessagesAsManyAsFit) {
  Start([](int socket, int line) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(8);
    for (uint64_t token = 0; token < 10; ++token) {
      Send(socket, request.from, "x",
           Controls().Rdma(request.cookie.value_or(0), 0, 8, {Piece(data.data(), 8)},
                           kWrite | kNotify, token));
    }
    const Rds other = Rds::Bound();
    Tell(line, other.port());
    // What comes here has come behind the acknowledgement of all of these.
    EXPECT_EQ(ReceiveMessage(other).payload, "last");
    const Got first = Receive(socket, 0, 100, 8 * CMSG_SPACE(sizeof(rds_rdma_notify)));
    EXPECT_EQ(first.statuses.size(), 8u);
    EXPECT_EQ(first.result, 0);
    EXPECT_EQ(first.name_length, 0u);
    const Got second = Receive(socket);
    EXPECT_EQ(second.statuses.size(), 2u);
    EXPECT_EQ(Receive(socket).payload, "later");
  });
  std::vector<uint8_t> memory(8);
  Request(memory.data(), memory.size());
  const sockaddr_in other = AddressOf(static_cast<uint16_t>(Hear(server_->line())));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ReceiveMessage(*client_).payload, "x");
  EXPECT_EQ(Send(*client_, server_name_, "later"), 5);
  EXPECT_EQ(Send(*client_, other, "last"), 4);
  Finish();
}

// 22: a status for which there is no room is lost.
TEST_F(RdmaTest, AStatusWithoutRoomIsLost) {
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(8);
    for (uint64_t token = 0; token < 2; ++token) {
      Send(socket, request.from, "x",
           Controls().Rdma(request.cookie.value_or(0), 0, 8, {Piece(data.data(), 8)},
                           kWrite | kNotify, token));
    }
    const Got lost = Receive(socket, 0, 100, 0);
    EXPECT_EQ(lost.result, 0);
    EXPECT_NE(lost.flags & MSG_CTRUNC, 0);
    EXPECT_EQ(ReceiveStatus(socket).user_token, 1u);
  });
  std::vector<uint8_t> memory(8);
  Request(memory.data(), memory.size());
  for (int i = 0; i < 2; ++i) ReceiveMessage(*client_);
  Finish();
}

// 36, 37: once the answer is there, a cookie that is used once is gone.
TEST_F(RdmaTest, ACookieForOneUseIsReleasedByTheAnswer) {
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(8);
    const auto use = [&](uint64_t token) {
      Send(socket, request.from, "x",
           Controls().Rdma(request.cookie.value_or(0), 0, 8, {Piece(data.data(), 8)},
                           kWrite | kNotify, token));
      return ReceiveStatus(socket).status;
    };
    EXPECT_EQ(use(1), RDS_RDMA_SUCCESS);
    if (!KernelDiffers("memory that was closed")) {
      EXPECT_EQ(use(2), RDS_RDMA_REMOTE_ERROR);
    }
  });
  std::vector<uint8_t> memory(8);
  const auto cookie = Request(memory.data(), memory.size(), RDS_RDMA_USE_ONCE);
  EXPECT_EQ(ReceiveMessage(*client_).payload, "x");
  EXPECT_EQ(Free(cookie), EINVAL);
  Finish();
}

// 37, 40, 67, 69: what was freed is closed, and is freed once.
TEST_F(RdmaTest, AFreedCookieIsClosed) {
  Start([](int socket, int line) {
    const Got request = ReceiveMessage(socket);
    Tell(line, 1);
    Hear(line);
    if (KernelDiffers("memory that was closed")) return;
    const auto data = Counting(8);
    Send(socket, request.from, "x",
         Controls().Rdma(request.cookie.value_or(0), 0, 8, {Piece(data.data(), 8)},
                         kWrite | kNotify));
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_REMOTE_ERROR);
  });
  std::vector<uint8_t> memory(8);
  const auto cookie = Request(memory.data(), memory.size());
  Hear(server_->line());
  EXPECT_EQ(Free(cookie, RDS_RDMA_INVALIDATE), 0);
  EXPECT_EQ(Free(cookie), EINVAL);
  Tell(server_->line(), 1);
  Finish();
  EXPECT_EQ(memory[0], 0);
}

// 9, 12, 28, 61: an operation that the peer refuses takes its message with it, and those behind it
// arrive.
TEST_F(RdmaTest, AnOperationThatFailsTakesItsMessageWithIt) {
  if (KernelDiffers("connections with open memory")) GTEST_SKIP();
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(16);
    const auto write = [&](const char* text, uint64_t offset, uint64_t flags, uint64_t token) {
      Send(socket, request.from, text,
           Controls().Rdma(request.cookie.value_or(0), offset, 16, {Piece(data.data(), 16)},
                           kWrite | flags, token));
    };
    write("bad", 1, kNotify, 5);  // one octet beyond the end
    const rds_rdma_notify told = ReceiveStatus(socket);
    EXPECT_EQ(told.status, RDS_RDMA_REMOTE_ERROR);
    EXPECT_EQ(told.user_token, 5u);
    const int on = 1;
    EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_RECVERR, &on, sizeof on), 0);
    write("bad again", 16, 0, 6);
    const int status = ReceiveStatus(socket).status;
    EXPECT_TRUE(status == RDS_RDMA_REMOTE_ERROR || status == RDS_RDMA_DROPPED) << status;
    // What is posted while the connection goes may go with it. So the good one waits for an answer.
    Send(socket, request.from, "plain");
    EXPECT_EQ(ReceiveMessage(socket).payload, "go on");
    write("good", 0, kNotify, 7);
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
  });
  std::vector<uint8_t> memory(16);
  Request(memory.data(), memory.size());
  EXPECT_EQ(ReceiveMessage(*client_).payload, "plain");
  EXPECT_EQ(Send(*client_, server_name_, "go on"), 5);
  EXPECT_EQ(ReceiveMessage(*client_).payload, "good");
  EXPECT_EQ(memory, Counting(16));
  Finish();
}

// 42: a cookie that nobody gave.
TEST_F(RdmaTest, AnInventedCookieIsAnErrorOfThePeer) {
  if (KernelDiffers("connections with open memory")) GTEST_SKIP();
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(8);
    EXPECT_EQ(
        Send(socket, request.from, "x",
             Controls().Rdma(0x1234567812345678, 0, 8, {Piece(data.data(), 8)}, kWrite | kNotify)),
        1);
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_REMOTE_ERROR);
    Send(socket, request.from, "alive");
  });
  std::vector<uint8_t> memory(8);
  Request(memory.data(), memory.size());
  EXPECT_EQ(ReceiveMessage(*client_).payload, "alive");
  Finish();
}

// 77: a whole MiB, written and read.
TEST_F(RdmaTest, AMebibyteGoesBothWays) {
  constexpr size_t kSize = 1 << 20;
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    auto data = Counting(kSize);
    for (const uint64_t flags : {kWrite, kFence}) {
      EXPECT_EQ(Send(socket, request.from, "x",
                     Controls().Rdma(request.cookie.value_or(0), 0, kSize,
                                     {Piece(data.data(), kSize)}, flags | kNotify)),
                1);
      EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
      EXPECT_EQ(data, Counting(kSize));
      std::fill(data.begin(), data.end(), uint8_t{0});
    }
  });
  std::vector<uint8_t> memory(kSize);
  Request(memory.data(), memory.size());
  EXPECT_EQ(ReceiveMessage(*client_).payload, "x");
  EXPECT_EQ(memory, Counting(kSize));
  EXPECT_EQ(ReceiveMessage(*client_).payload, "x");
  Finish();
}

// rds.h: 512 areas in one operation.
TEST_F(RdmaTest, ManyAreas) {
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(2048);
    std::vector<rds_iovec> areas;
    for (size_t i = 0; i < 512; ++i) areas.push_back(Piece(&data[4 * i], 3));
    EXPECT_EQ(Send(socket, request.from, "x",
                   Controls().Rdma(request.cookie.value_or(0), 0, 1536, areas, kWrite | kNotify)),
              1);
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
  });
  std::vector<uint8_t> memory(1536);
  Request(memory.data(), memory.size());
  ReceiveMessage(*client_);
  const auto data = Counting(2048);
  for (size_t i = 0; i < 1536; ++i) ASSERT_EQ(memory[i], data[i / 3 * 4 + i % 3]) << i;
  Finish();
}

// Atomics: the old value comes back, and the new one is there.
TEST_F(RdmaTest, Atomics) {
  if (KernelDiffers("atomic operations")) GTEST_SKIP();
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto cookie = request.cookie.value_or(0);
    uint64_t old = 0;
    EXPECT_EQ(Send(socket, request.from, "x", Controls().FetchAdd(cookie, 8, &old, 5, kNotify, 1)),
              1);
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
    EXPECT_EQ(old, 100u);
    EXPECT_EQ(Send(socket, request.from, "x",
                   Controls().CompareSwap(cookie, 8, &old, 105, 7, kNotify, 2)),
              1);
    EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
    EXPECT_EQ(old, 105u);
  });
  alignas(8) uint64_t words[2] = {1, 100};
  Request(words, sizeof words);
  ReceiveMessage(*client_);
  ReceiveMessage(*client_);
  EXPECT_EQ(words[0], 1u);
  EXPECT_EQ(words[1], 7u);
  Finish();
}

// rds.md 2.2, SILENT: only memory changes.
TEST_F(RdmaTest, ASilentOperationSaysNothing) {
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(8);
    EXPECT_EQ(Send(socket, request.from, "",
                   Controls().Rdma(request.cookie.value_or(0), 0, 8, {Piece(data.data(), 8)},
                                   kWrite | RDS_RDMA_SILENT | kNotify)),
              0);
    if (!KernelDiffers("SILENT")) {
      EXPECT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS);
    }
    Send(socket, request.from, "said");
  });
  std::vector<uint8_t> memory(8);
  Request(memory.data(), memory.size());
  EXPECT_EQ(ReceiveMessage(*client_).payload, "said");
  EXPECT_EQ(memory, Counting(8));
  Finish();
}

// More than may be posted at a time: each that ends makes room for another one.
TEST_F(RdmaTest, SilentOperationsThatWaitForRoomAreCarriedOut) {
  if (KernelDiffers("SILENT")) GTEST_SKIP();
  static constexpr size_t kOperations = 600;
  Start([](int socket, int) {
    const Got request = ReceiveMessage(socket);
    const auto data = Counting(kOperations);
    for (size_t i = 0; i < kOperations; ++i) {
      EXPECT_EQ(Send(socket, request.from, "",
                     Controls().Rdma(request.cookie.value_or(0), i, 1, {Piece(&data[i], 1)},
                                     kWrite | RDS_RDMA_SILENT | kNotify)),
                0);
    }
    for (size_t i = 0; i < kOperations; ++i) {
      ASSERT_EQ(ReceiveStatus(socket).status, RDS_RDMA_SUCCESS) << i;
    }
    Send(socket, request.from, "said");
  });
  std::vector<uint8_t> memory(kOperations);
  Request(memory.data(), memory.size());
  EXPECT_EQ(ReceiveMessage(*client_).payload, "said");
  EXPECT_EQ(memory, Counting(kOperations));
  Finish();
}

// ---- what needs no peer ----

// 25, 65, 66: right after bind; and both arguments have exactly their size.
TEST_F(RdmaTest, GetMrWorksRightAfterBind) {
  const Rds socket = Rds::Bound();
  std::vector<uint8_t> memory(100);
  rds_rdma_cookie_t cookie = 0;
  EXPECT_EQ(Get(socket, memory.data(), memory.size(), &cookie), 0);
  EXPECT_NE(cookie, 0u);
  rds_get_mr_args args{};
  args.vec = Piece(memory.data(), 100);
  for (const socklen_t length : {socklen_t{31}, socklen_t{33}}) {
    EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_GET_MR, &args, length), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_FREE_MR, &args, length / 2), -1);
    EXPECT_EQ(errno, EINVAL);
  }
  rds_get_mr_for_dest_args for_dest{};
  for_dest.vec = Piece(memory.data(), 100);
  for_dest.cookie_addr = reinterpret_cast<uintptr_t>(&cookie);
  if (KernelDiffers("RDS_GET_MR")) {
    EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_GET_MR_FOR_DEST, &for_dest, sizeof for_dest), -1);
    EXPECT_EQ(errno, EOPNOTSUPP);
    return;
  }
  EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_GET_MR_FOR_DEST, &for_dest, sizeof for_dest), 0);
}

// 70: the way in which programs find out whether there is RDMA.
TEST_F(RdmaTest, FreeingNothingSucceedsOnABoundSocket) {
  const Rds socket = Rds::Bound();
  const rds_free_mr_args nothing{};
  EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_FREE_MR, &nothing, sizeof nothing), 0);
  const Rds unbound;
  EXPECT_EQ(setsockopt(unbound, SOL_RDS, RDS_FREE_MR, &nothing, sizeof nothing), -1);
  EXPECT_EQ(errno, EINVAL);
}

// 2, 64, 74, 76, rds.md 2.4: memory that cannot be opened.
TEST_F(RdmaTest, MemoryThatCannotBeOpened) {
  const Rds unbound;
  const Rds socket = Rds::Bound();
  constexpr size_t kMost = 1 << 20;
  auto* const memory = static_cast<uint8_t*>(
      mmap(nullptr, 2 * kMost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  rds_rdma_cookie_t cookie = 0;
  EXPECT_EQ(Get(unbound, memory, 1, &cookie), ENOTCONN);
  EXPECT_EQ(Get(socket, memory, 0, &cookie), EINVAL);
  EXPECT_EQ(Get(socket, memory, kMost - 1, &cookie), 0);
  EXPECT_EQ(Get(socket, memory, kMost, &cookie), 0);
  EXPECT_EQ(Get(socket, memory + 1, kMost, &cookie), 0);
  EXPECT_EQ(Get(socket, memory, kMost + 8192, &cookie),
            KernelDiffers("more than a MiB") ? EMSGSIZE : EINVAL);
  EXPECT_EQ(Get(socket, reinterpret_cast<void*>(~uintptr_t{0} - 10), 100, &cookie), EINVAL);
  EXPECT_EQ(Get(socket, nullptr, 100, &cookie), EFAULT);
  ASSERT_EQ(mprotect(memory, kMost, PROT_READ), 0);
  EXPECT_EQ(Get(socket, memory, 100, &cookie), EFAULT);
  EXPECT_EQ(Get(socket, memory + kMost - 1, 2, &cookie), EFAULT);
  EXPECT_EQ(Get(socket, memory + kMost, 100, reinterpret_cast<rds_rdma_cookie_t*>(8)), EFAULT);
  munmap(memory, 2 * kMost);
}

// 78.
TEST_F(RdmaTest, TwoThousandRegions) {
  const Rds socket = Rds::Bound();
  std::vector<uint8_t> memory(4096);
  for (int i = 0; i < 2048; ++i) {
    rds_rdma_cookie_t cookie = 0;
    ASSERT_EQ(Get(socket, memory.data(), memory.size(), &cookie), 0) << i;
  }
}

// 23, 27, 29.
TEST_F(RdmaTest, RecverrIsABooleanAndOffAtFirst) {
  const Rds socket = Rds::Bound();
  const auto get = [&] {
    int value = -1;
    socklen_t length = sizeof value;
    EXPECT_EQ(getsockopt(socket, SOL_RDS, RDS_RECVERR, &value, &length), 0);
    EXPECT_EQ(length, sizeof value);
    return value;
  };
  EXPECT_EQ(get(), 0);
  int on = 17;
  EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_RECVERR, &on, sizeof on), 0);
  EXPECT_EQ(get(), 1);
  EXPECT_EQ(setsockopt(socket, SOL_RDS, RDS_RECVERR, &on, 3), -1);
  EXPECT_EQ(errno, EINVAL);
}

// 73 and rds.md 2.3: what cannot stand in one call.
TEST_F(RdmaTest, ControlMessagesThatContradictEachOther) {
  const Rds socket = Rds::Bound();
  const sockaddr_in to = AddressOf(socket.port());
  alignas(8) uint64_t word = 0;
  rds_rdma_cookie_t cookie = 0;
  ASSERT_EQ(Get(socket, &word, sizeof word, &cookie), 0);
  enum Kind { kMap, kDest, kArgs, kAtomic };
  const auto add = [&](Controls& controls, int kind) {
    if (kind == kMap) controls.Map(&word, sizeof word, nullptr);
    if (kind == kDest) controls.Destination(cookie);
    if (kind == kArgs) controls.Rdma(cookie, 0, 8, {Piece(&word, 8)}, kWrite);
    if (kind == kAtomic) controls.FetchAdd(cookie, 0, &word, 0, 0);
  };
  int sent = 0;
  for (const int first : {kMap, kDest, kArgs, kAtomic}) {
    for (const int second : {kMap, kDest, kArgs, kAtomic}) {
      Controls controls;
      add(controls, first);
      add(controls, second);
      const bool fits = first + second == kArgs + kAtomic && first != second;
      if (fits && KernelDiffers("atomic operations")) continue;
      EXPECT_EQ(Send(socket, to, "x", controls), fits ? 1 : -EINVAL) << first << " " << second;
      if (fits) ++sent;
    }
  }
  for (int i = 0; i < sent; ++i) EXPECT_EQ(Receive(socket).payload, "x");
  EXPECT_EQ(Receive(socket, MSG_DONTWAIT).result, -EAGAIN);
}

// 20, 44, 45, 75, rds.md 2.3: operations that are wrong in themselves.
TEST_F(RdmaTest, OperationsThatAreRefused) {
  const Rds socket = Rds::Bound();
  const sockaddr_in to = AddressOf(socket.port());
  std::vector<uint8_t> memory(100);
  const auto send = [&](const std::vector<rds_iovec>& local, uint64_t remote,
                        uint64_t flags = kWrite) {
    return Send(socket, to, "x", Controls().Rdma(1, 0, remote, local, flags));
  };
  EXPECT_EQ(send({}, 0), -EINVAL);
  EXPECT_EQ(send({Piece(memory.data(), 0)}, 0), -EINVAL);
  EXPECT_EQ(send({Piece(memory.data(), 100)}, 99), -EINVAL);
  EXPECT_EQ(send({Piece(memory.data(), 1)}, (1 << 20) + 1), -EMSGSIZE);
  EXPECT_EQ(send(std::vector<rds_iovec>(1025, Piece(memory.data(), 1)), 2000), -EMSGSIZE);
  EXPECT_EQ(send({Piece(nullptr, 10)}, 10), -EFAULT);
  EXPECT_EQ(send({{~uint64_t{0} - 5, 10}}, 10), -EINVAL);
  static const char kConstant[] = "in memory that cannot be written";
  EXPECT_EQ(send({Piece(kConstant, 10)}, 10, 0), -EFAULT);
  rds_rdma_args args{};
  args.nr_local = 1;
  args.local_vec_addr = 8;
  args.remote_vec.bytes = 8;
  EXPECT_EQ(Send(socket, to, "x", Controls().Add(RDS_CMSG_RDMA_ARGS, &args, sizeof args)), -EFAULT);
  EXPECT_EQ(Send(socket, to, "x", Controls().Add(RDS_CMSG_RDMA_ARGS, &args, sizeof args - 1)),
            -EINVAL);
  EXPECT_EQ(Send(socket, to, "x", Controls().Add(99, &args, sizeof args)), -EINVAL);
  EXPECT_EQ(Send(socket, to, "x", Controls().Destination(77)), -EINVAL);
  EXPECT_EQ(Receive(socket, MSG_DONTWAIT).result, -EAGAIN);
}

}  // namespace
}  // namespace softdat::rds_test
