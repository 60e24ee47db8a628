// The errors that functions of the library return: number, name, and what cudaGetErrorString says of them.
#pragma once
#include <map>

struct Words { const char *name, *text; };

inline const std::map<int, Words> ERRORS = {
    {0, {"cudaSuccess", "no error"}},
    {1, {"cudaErrorInvalidValue", "invalid argument"}},
    {2, {"cudaErrorMemoryAllocation", "out of memory"}},
    {9, {"cudaErrorInvalidConfiguration", "invalid configuration argument"}},
    {12, {"cudaErrorInvalidPitchValue", "invalid pitch argument"}},
    {13, {"cudaErrorInvalidSymbol", "invalid device symbol"}},
    {21, {"cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"}},
    {98, {"cudaErrorInvalidDeviceFunction", "invalid device function"}},
    {101, {"cudaErrorInvalidDevice", "invalid device ordinal"}},
    {215, {"cudaErrorUnsupportedLimit", "limit is not supported on this architecture"}},
    {400, {"cudaErrorInvalidResourceHandle", "invalid resource handle"}},
    {710, {"cudaErrorAssert", "device-side assert triggered"}},
    {719, {"cudaErrorLaunchFailure", "unspecified launch failure"}},
    {801, {"cudaErrorNotSupported", "operation not supported"}},
};
