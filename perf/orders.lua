-- orders.lua - wrk sends frames that perf/tls.py signed beforehand, each once.
local FRAME_BYTES = 168
local file = assert(io.open(os.getenv("PERF_FRAMES"), "rb"))
local frames = file:read("*a")
file:close()
local count = math.floor(#frames / FRAME_BYTES)
local sent = 0

wrk.method = "POST"
wrk.headers["Content-Type"] = "application/octet-stream"

function request()
   local at = (sent % count) * FRAME_BYTES
   sent = sent + 1
   return wrk.format(nil, nil, nil, frames:sub(at + 1, at + FRAME_BYTES))
end
