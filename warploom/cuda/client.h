// The connection to the process that has started this program (session.py): a request, and its answer. It is a socket,
// of which that process gets the other end through the socket that the program has from it ($WARPLOOM_CUDA).
#pragma once
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>

#include "protocol.h"                    // the verbs and errors of protocol.py

using u64 = std::uint64_t;

struct Answer { Error error; u64 value; std::string data; };

inline std::recursive_mutex lock;        // one request at a time, and whatever belongs to it
inline thread_local Error last = SUCCESS;
inline std::atomic<Error> fault{SUCCESS};  // of a kernel that has failed: from then on every call fails

inline Error failed(Error error) {
    if (error) last = error;
    return error;
}

[[noreturn]] inline void lost(const char* why) {
    std::fprintf(stderr, "warploom: error: %s\n", why);
    _exit(1);
}

constexpr const char* ENDED = "warploom cuda has ended";

inline const char* reason() {            // why a transfer has failed
    switch (errno) {
        case EBADF: case ENOTSOCK: return "the program has closed file descriptors of this library, such as "
                                          "$WARPLOOM_CUDA: keep them open";
        case EFAULT: return "the program copies memory that it does not have";
        default: return ENDED;
    }
}

inline int own = -1;                     // connection of this process

inline void connect_own() {
    static const char* const broker = std::getenv("WARPLOOM_CUDA");
    if (!broker) lost("this is the CUDA library of warploom cuda: start the program with that");
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) lost("no more file descriptors");
    char byte = 0;
    iovec contents{&byte, 1};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &contents;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    *rights = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(rights), &ends[1], sizeof(int));
    if (sendmsg(std::atoi(broker), &message, MSG_NOSIGNAL) < 0) lost(reason());
    close(ends[1]);
    own = ends[0];
}

// A process that the program starts makes a connection of its own: if it is killed within a request, only that ends.
inline int connection() {
    static const int forks = pthread_atfork(nullptr, nullptr, [] {
        if (own >= 0) close(own);
        own = -1;
    });
    if (forks) lost("no more memory");
    if (own < 0) connect_own();
    return own;
}

template <ssize_t part(int, char*, std::size_t)> void transfer(char* at, std::size_t size) {
    while (size) {
        const ssize_t done = part(connection(), at, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) lost(done ? reason() : ENDED);
        at += done;
        size -= done;
    }
}

inline ssize_t sent(int connection, char* at, std::size_t size) { return send(connection, at, size, MSG_NOSIGNAL); }
inline ssize_t received(int connection, char* at, std::size_t size) { return recv(connection, at, size, 0); }

inline Answer ask(Verb verb, u64 a, u64 b, u64 c, const void* data, std::size_t size) {
    const std::lock_guard<std::recursive_mutex> held(lock);
    if (fault) return {failed(fault), 0, {}};
    u64 request[] = {static_cast<u64>(verb), a, b, c, size}, header[3];
    transfer<sent>(reinterpret_cast<char*>(request), sizeof request);
    transfer<sent>(static_cast<char*>(const_cast<void*>(data)), size);
    transfer<received>(reinterpret_cast<char*>(header), sizeof header);
    Answer answer{failed(static_cast<Error>(header[0])), header[1], std::string(header[2], '\0')};
    transfer<received>(answer.data.data(), answer.data.size());
    if (std::count(std::begin(FAULTS), std::end(FAULTS), answer.error)) fault = answer.error;
    return answer;
}

inline Answer ask(Verb verb, u64 a = 0, u64 b = 0, u64 c = 0, const std::string& data = "") {
    return ask(verb, a, b, c, data.data(), data.size());
}
