# Kernels of examples, compiled with nvcc where the CUDA toolkit is found: TESSERA_NVCC, or TESSERA_NO_KERNELS, the reason
# why there are none. Nothing links the toolkit's libraries: the driver loads what is compiled here.

# An nvcc that is there may still not go with this machine's compiler, so it has to show that it works.
function(tessera_find_nvcc)
  find_program(TESSERA_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(NOT TESSERA_NVCC)
    set(TESSERA_NO_KERNELS "there is no nvcc: the CUDA toolkit is not on this machine (set TESSERA_NVCC)" PARENT_SCOPE)
    return()
  endif()
  file(REAL_PATH "${TESSERA_NVCC}" real_nvcc)
  cmake_path(GET real_nvcc PARENT_PATH nvcc_folder)
  find_program(TESSERA_BIN2C bin2c HINTS "${nvcc_folder}")
  if(NOT TESSERA_BIN2C)
    set(TESSERA_NO_KERNELS "there is no bin2c beside ${TESSERA_NVCC}" PARENT_SCOPE)
    return()
  endif()
  if(NOT TESSERA_NVCC_WORKS STREQUAL TESSERA_NVCC)
    set(try "${CMAKE_BINARY_DIR}/CMakeFiles/nvcc_try")
    file(WRITE "${try}.cu" "extern \"C\" __global__ void nothing() {}\n")
    execute_process(COMMAND "${TESSERA_NVCC}" -fatbin -arch=all -o "${try}.fatbin" "${try}.cu"
      RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
      string(REGEX REPLACE "\n.*" "" first_line "${output}")
      set(TESSERA_NO_KERNELS "${TESSERA_NVCC} does not compile: ${first_line}" PARENT_SCOPE)
      return()
    endif()
    set(TESSERA_NVCC_WORKS "${TESSERA_NVCC}" CACHE INTERNAL "The nvcc that was tried and works")
  endif()
endfunction()

set(TESSERA_NO_KERNELS "")
tessera_find_nvcc()

# tessera_embed_kernels(TARGET SOURCE.cu NAME): compiles the kernels for every architecture that nvcc knows, and as PTX
# for those to come; adds them to the target as `extern "C" const unsigned long long NAME[]`, an image for
# cuModuleLoadData.
function(tessera_embed_kernels target source name)
  cmake_path(GET source STEM stem)
  set(image "${CMAKE_CURRENT_BINARY_DIR}/${stem}.fatbin")
  set(text "${CMAKE_CURRENT_BINARY_DIR}/${stem}.c")
  add_custom_command(OUTPUT "${image}"
    # The results are those of the same sums on a host.
    COMMAND "${TESSERA_NVCC}" -fatbin -arch=all -O3 --fmad=false -o "${image}" "${CMAKE_CURRENT_SOURCE_DIR}/${source}"
    DEPENDS "${source}" COMMENT "Compiling ${source}" VERBATIM)
  add_custom_command(OUTPUT "${text}"
    COMMAND sh -c "\"$0\" --const --type longlong --name \"$1\" \"$2\" >\"$3\""
      "${TESSERA_BIN2C}" "${name}" "${image}" "${text}"
    DEPENDS "${image}" COMMENT "Embedding ${stem}" VERBATIM)
  target_sources(${target} PRIVATE "${text}")
endfunction()
