# What an installation holds, the CMake package `tessera`, and the target `programs`: all that runs, without the tests.
include(CMakePackageConfigHelpers)

# --- what runs -------------------------------------------------------------------------------------------------------
set(programs tessera)
foreach(folder IN ITEMS daemon sdk cli examples)
  get_property(targets DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  list(APPEND programs ${targets})
endforeach()
add_custom_target(programs DEPENDS ${programs})

# --- programs, library, example modules ------------------------------------------------------------------------------
install(TARGETS tessera_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS tessera EXPORT tesseraTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
get_property(modules DIRECTORY "${PROJECT_SOURCE_DIR}/examples" PROPERTY BUILDSYSTEM_TARGETS)
foreach(target IN LISTS modules)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "MODULE_LIBRARY")
    install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/tessera")
  endif()
endforeach()

# --- the daemon inside an own program --------------------------------------------------------------------------------
set_target_properties(tessera_daemon PROPERTIES EXPORT_NAME daemon)
install(TARGETS tessera_daemon EXPORT tesseraTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

# --- clients in C++ ---------------------------------------------------------------------------------------------------
set_target_properties(tessera_sdk PROPERTIES EXPORT_NAME sdk)
install(TARGETS tessera_sdk EXPORT tesseraTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

# --- clients in C -----------------------------------------------------------------------------------------------------
install(TARGETS tessera_c EXPORT tesseraTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/tessera.pc.in" "${PROJECT_BINARY_DIR}/tessera.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tessera.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# --- headers of the shared library -----------------------------------------------------------------------------------
foreach(folder IN ITEMS base array cuda ipc tesseract)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES "${PROJECT_BINARY_DIR}/tesseract/include/tessera/tesseract/headers_hash.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tessera/tesseract")

# --- the package -----------------------------------------------------------------------------------------------------
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tessera")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tesseraConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/tesseraConfig.cmake" INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tesseraConfig.cmake" "${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake"
  DESTINATION "${package_folder}")
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION "${package_folder}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
