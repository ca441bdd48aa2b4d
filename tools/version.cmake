# Writes OUTPUT, the definitions of src/base/version.h: VERSION, the commit of the sources, and the
# BUILD type. It runs in each build and touches the file only when a line of it changes.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown") # sources without their history
else()
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND commit "-changed")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"base/version.h\"

const char version_number[] = \"${VERSION}\";
const char version_commit[] = \"${commit}\";
const char version_build[] = \"${BUILD}\";
const char version_text[] = \"${VERSION}, commit ${commit}, ${BUILD} build\";
")
