// The numbers of CUresult that the stand-in gives.
#pragma once

namespace tessera::stand_in {

enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kStubLibrary = 34,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kMapFailed = 205,
  kAlreadyMapped = 208,
  kPeerAccessUnsupported = 217,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kContextIsDestroyed = 709,
  kNotPermitted = 800,
  kNotSupported = 801,
  kUnknown = 999,
};

}  // namespace tessera::stand_in
