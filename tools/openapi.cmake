# Writes OUTPUT, the definitions of src/net/json/openapi.h, from the document INPUT.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes
  "${bytes}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"net/json/openapi.h\"

const char openapi_text[] = {
${bytes}
};
const size_t openapi_bytes = sizeof openapi_text;
")
