# Writes what src/net/http/asset.c embeds: from each file of FOLDER its bytes, gzip's and brotli's to
# OUTPUT/, assets.S with all of them, and asset_table.c, which says what is where.
# Names are sorted, and gzip and brotli leave out name and date: the same files give the same bytes.
function(run program output)
  execute_process(COMMAND ${program} ${ARGN} OUTPUT_FILE ${output} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${program} failed: ${ARGN}")
  endif()
endfunction()

set(media_html "text/html; charset=utf-8")
set(media_css "text/css; charset=utf-8")
set(media_js "text/javascript; charset=utf-8")
set(media_svg "image/svg+xml")
set(media_txt "text/plain; charset=utf-8")

file(GLOB names LIST_DIRECTORIES false RELATIVE ${FOLDER} ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js
  ${FOLDER}/*.svg ${FOLDER}/*.txt)
list(SORT names)
set(assembly ".section .rodata\n")
set(declared "")
set(rows "")
set(count 0)
foreach(name IN LISTS names)
  cmake_path(GET name EXTENSION LAST_ONLY extension)
  string(SUBSTRING "${extension}" 1 -1 extension)
  file(SHA256 ${FOLDER}/${name} digest)
  string(SUBSTRING ${digest} 0 16 digest)
  file(COPY_FILE ${FOLDER}/${name} ${OUTPUT}/${count}.plain)
  run(gzip ${OUTPUT}/${count}.gzip -9nc ${FOLDER}/${name})
  run(brotli ${OUTPUT}/${count}.brotli -q 11 -c ${FOLDER}/${name})
  set(bodies "")
  foreach(coding plain gzip brotli)
    set(symbol asset_${count}_${coding})
    string(APPEND assembly ".balign 16\n.globl ${symbol}\n${symbol}:\n"
      ".incbin \"${OUTPUT}/${count}.${coding}\"\n")
    string(APPEND declared "extern const uint8_t ${symbol}[];\n")
    file(SIZE ${OUTPUT}/${count}.${coding} bytes)
    string(APPEND bodies "{ ${symbol}, ${bytes} }, ")
  endforeach()
  string(APPEND rows "    { \"${name}\", \"${media_${extension}}\", \"${digest}\", { ${bodies}} },\n")
  math(EXPR count "${count} + 1")
endforeach()
string(APPEND assembly ".section .note.GNU-stack,\"\",@progbits\n")
file(CONFIGURE OUTPUT ${OUTPUT}/assets.S CONTENT "${assembly}")
if(count EQUAL 0)
  set(rows "    { 0 },\n")
endif()
file(CONFIGURE OUTPUT ${OUTPUT}/asset_table.c @ONLY CONTENT "#include \"net/http/asset_table.h\"

${declared}
const struct asset asset_table[] = {
${rows}};
const uint32_t asset_count = ${count};
")
