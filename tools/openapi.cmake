# Writes OUTPUT, the definitions of src/net/json/NAME.h, from the document INPUT.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes
  "${bytes}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"net/json/${NAME}.h\"

const char ${NAME}_text[] = {
${bytes}
};
const size_t ${NAME}_bytes = sizeof ${NAME}_text;
")
