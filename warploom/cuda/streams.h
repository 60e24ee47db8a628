// Streams and events: every call has ended when it returns.
#pragma once
#include "api.h"
#include "device.h"

struct Queue { unsigned flags; };
struct Event { bool timed, recorded; u64 nanoseconds; };

static bool is_default(Stream stream) { return reinterpret_cast<u64>(stream) <= 2; }  // none, or of a thread

API Error cudaStreamCreateWithFlags(Stream* stream, unsigned flags) {
    *stream = new Queue{flags};
    return failed(fault);
}

API Error cudaStreamCreate(Stream* stream) { return cudaStreamCreateWithFlags(stream, 0); }

API Error cudaStreamCreateWithPriority(Stream* stream, unsigned flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}

API Error cudaStreamGetFlags(Stream stream, unsigned* flags) {
    *flags = is_default(stream) ? 0 : stream->flags;
    return SUCCESS;
}

API Error cudaStreamGetPriority(Stream, int* priority) {
    *priority = 0;
    return SUCCESS;
}

API Error cudaStreamDestroy(Stream stream) {
    if (is_default(stream)) return failed(INVALID_RESOURCE_HANDLE);
    delete stream;
    return failed(fault);
}

SAME(cudaStreamSynchronize, Stream)
SAME(cudaStreamQuery, Stream)
SAME(cudaStreamWaitEvent, Stream, Event*, unsigned)

API Error cudaStreamAddCallback(Stream stream, void callback(Stream, Error, void*), void* data, unsigned) {
    callback(stream, fault, data);
    return SUCCESS;
}

API Error cudaLaunchHostFunc(Stream, void function(void*), void* data) {
    function(data);
    return SUCCESS;
}

API Error cudaStreamIsCapturing(Stream, int* status) { return zero(status); }
API Error cudaStreamGetCaptureInfo(Stream, int* status) { return zero(status); }
API Error cudaStreamGetCaptureInfo_v2(Stream, int* status) { return zero(status); }
API Error cudaStreamGetCaptureInfo_v3(Stream, int* status) { return zero(status); }
API Error cudaThreadExchangeStreamCaptureMode(int* mode) { return zero(mode); }

API Error cudaEventCreateWithFlags(Event** event, unsigned flags) {
    *event = new Event{!(flags & 2), false, 0};              // cudaEventDisableTiming
    return failed(fault);
}

API Error cudaEventCreate(Event** event) { return cudaEventCreateWithFlags(event, 0); }

API Error cudaEventRecord(Event* event, Stream) {
    if (!event) return failed(INVALID_RESOURCE_HANDLE);
    const Answer answer = ask(Verb::TIME);
    *event = {event->timed, true, answer.value};
    return answer.error;
}

API Error cudaEventRecordWithFlags(Event* event, Stream stream, unsigned) { return cudaEventRecord(event, stream); }
API Error cudaEventQuery(const Event* event) { return failed(event ? fault.load() : INVALID_RESOURCE_HANDLE); }
API Error cudaEventSynchronize(const Event* event) { return cudaEventQuery(event); }

API Error cudaEventElapsedTime(float* milliseconds, const Event* start, const Event* end) {
    for (const Event* event : {start, end})
        if (!event || !event->timed || !event->recorded) return failed(INVALID_RESOURCE_HANDLE);
    *milliseconds = static_cast<float>(static_cast<std::int64_t>(end->nanoseconds - start->nanoseconds)) / 1e6F;
    return failed(fault);
}

API Error cudaEventDestroy(Event* event) {
    if (!event) return failed(INVALID_RESOURCE_HANDLE);
    delete event;
    return failed(fault);
}
