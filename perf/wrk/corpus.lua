-- corpus.lua - sends the requests of a corpus that `perp bench gen` signed, each once.
--
-- place.lua, mixed.lua, reads.lua and binary.lua are wrk scripts that load this file. Each thread of
-- wrk has a slice of the corpus of its own and stops when all of it is answered; nothing is sent a
-- second time. At the end one JSON object is printed: the outcomes, and the stages of the server as
-- its /metrics grew from before to after. What is not known is null, never 0.
--
-- PERP_CORPUS is the file. PERP_ADMIN_URL and PERP_DATA (the data directory, whose token opens the
-- admin listener) are for the server's figures. `perp bench gen --run` sets all of them.

local ffi = require("ffi")
ffi.cdef("typedef struct { long s, ns; } perp_time; int clock_gettime(int, perp_time *);")

local M = { kinds = nil, name = "mixed", needs_frames = false }

local function fail(text)
   io.stderr:write(M.name .. ".lua: " .. text .. "\n")
   os.exit(2)
end

-- Seconds of CLOCK_MONOTONIC.
local function now()
   local time = ffi.new("perp_time")
   ffi.C.clock_gettime(1, time)
   return tonumber(time.s) + tonumber(time.ns) / 1e9
end

-- The requests of the wanted kinds, and when the corpus begins.
local function read_corpus()
   local path = os.getenv("PERP_CORPUS") or fail("PERP_CORPUS names no file")
   local file = io.open(path, "rb") or fail(path .. " cannot be read")
   local text = file:read("*a")
   file:close()
   local count, begin, stop = text:match("^perp%-corpus 1 (%d+) (%d+) [%d.]+\n()")
   if not count then
      fail(path .. " is no corpus of perp bench gen")
   end
   local requests, at = {}, stop
   for _ = 1, tonumber(count) do
      local kind, bytes, from = text:match("^(%l+) %d+ (%d+)\n()", at)
      if not kind then
         fail(path .. " is damaged")
      end
      at = from + tonumber(bytes) + 1
      if not M.kinds or M.kinds[kind] then
         requests[#requests + 1] = text:sub(from, at - 2)
      end
   end
   if #requests == 0 then
      fail(path .. " has no request of a kind that this script sends")
   end
   if M.needs_frames and not requests[1]:find("Content-Type: application/octet-stream", 1, true) then
      fail(path .. " has JSON requests: make it with perp bench gen --binary")
   end
   return requests, tonumber(begin)
end

-- How many threads wrk has, which it tells nobody: the first one sends before the last one is made.
local function thread_count()
   local file = io.open("/proc/self/cmdline", "rb") or fail("/proc is not there")
   local words, count = file:read("*a"), 2
   file:close()
   local last = ""
   for word in words:gmatch("([^%z]*)%z") do
      local own = word:match("^%-t(%d+)$") or word:match("^%-%-threads=(%d+)$")
      local separate = (last == "-t" or last == "--threads") and word:match("^%d+$")
      count, last = tonumber(own or separate) or count, word
   end
   return count
end

-- The text of /metrics; nil where the admin listener is not known.
local function metrics()
   local url, data = os.getenv("PERP_ADMIN_URL"), os.getenv("PERP_DATA")
   if not url or not data then
      return nil
   end
   local token = io.open(data .. "/admin.token")
   if not token then
      return nil
   end
   local header = "Authorization: Bearer " .. (token:read("*l") or "")
   token:close()
   local path = os.tmpname() -- the token is not for the list of processes
   local config = io.open(path, "w")
   config:write('header = "', header, '"\nurl = "', url, '/metrics"\nsilent\nfail\n')
   config:close()
   local pipe = io.popen("curl -K " .. path)
   local text = pipe:read("*a")
   pipe:close()
   os.remove(path)
   return text ~= "" and text or nil
end

-- Cumulative buckets by stage: { {bound, count}, ... }.
local function stages(text)
   local all = {}
   if not text then
      return all
   end
   for stage, bound, count in text:gmatch(
      'perpd_net_stage_latency_ns_bucket{stage="(%l+)",le="([^"]+)"} (%d+)') do
      all[stage] = all[stage] or {}
      table.insert(all[stage], { tonumber(bound), tonumber(count) })
   end
   return all
end

local function json(value)
   if value == nil then
      return "null"
   end
   return type(value) == "number" and string.format("%.14g", value) or '"' .. value .. '"'
end

-- The bound in us of the bucket that holds the share of what came; nil: nothing, or beyond it.
local function quantile(before, after, share)
   local total = after[#after][2] - before[#before][2]
   for i = 1, #after do
      if total > 0 and after[i][1] and after[i][2] - before[i][2] >= share * total then
         return after[i][1] / 1000
      end
   end
   return nil
end

local function stage_text(before_text, after_text)
   local before, after, parts = stages(before_text), stages(after_text), {}
   for _, name in ipairs({ "verified", "pushed", "sequenced", "matched", "released", "sent", "read" }) do
      if before[name] and after[name] then
         parts[#parts + 1] = string.format('"%s":{"p50_us_at_most":%s,"p99_us_at_most":%s}', name,
            json(quantile(before[name], after[name], 0.5)), json(quantile(before[name], after[name], 0.99)))
      end
   end
   return #parts > 0 and "{" .. table.concat(parts, ",") .. "}" or "null"
end

local threads = {}

function M.install()
   local requests, slice_at, slice_end, verified
   local count = thread_count()

   -- Of wrk's main state: before and after.
   function setup(thread)
      thread:set("number", #threads)
      table.insert(threads, thread)
   end

   function init()
      local begin_ms
      requests, begin_ms = read_corpus()
      outcomes, sent, answered, due = "", 0, 0, 0
      words = {}
      if number == 0 then
         metrics_before = metrics() or ""
         local wait = math.ceil(begin_ms / 1000 - os.time())
         if wait > 0 then
            os.execute("sleep " .. wait)
         end
      end
   end

   -- wrk asks the first thread for a request that it does not send, before there are others.
   function request()
      if number == 0 and not verified then
         verified = true
         return requests[1]
      end
      if not slice_at then
         slice_at = math.floor(#requests * number / count)
         slice_end = math.floor(#requests * (number + 1) / count)
         due, begin_s = slice_end - slice_at, now()
      end
      if slice_at == slice_end then
         return ""
      end
      slice_at = slice_at + 1
      sent = sent + 1
      return requests[slice_at]
   end

   function response(status, headers, body)
      local word = body:match('"code":"([%w_]+)"')
      if status == 200 then
         word = body:match('^{"status":"([%w_]+)"')
         if #body == 64 and body:byte(4) == 1 then
            word = "status_" .. body:byte(1) + 256 * body:byte(2)
         end
         word = word or "read"
      end
      word = word or "http_" .. status
      words[word] = (words[word] or 0) + 1
      answered, end_s = answered + 1, now()
      if slice_at == slice_end and answered == sent then
         local parts = {}
         for name, count in pairs(words) do
            parts[#parts + 1] = name .. "=" .. count
         end
         outcomes = table.concat(parts, ",")
         wrk.thread:stop()
      end
   end

   function done(summary, latency)
      local sums, all = {}, { due = 0, sent = 0, answered = 0 }
      for _, thread in ipairs(threads) do
         for name in pairs(all) do
            all[name] = all[name] + (thread:get(name) or 0)
         end
         for name, count in pairs(thread:get("words") or {}) do
            sums[name] = (sums[name] or 0) + count
         end
      end
      local names, parts = {}, {}
      for name in pairs(sums) do
         names[#names + 1] = name
      end
      table.sort(names)
      for _, name in ipairs(names) do
         parts[#parts + 1] = string.format('"%s":%d', name, sums[name])
      end
      local before = threads[1]:get("metrics_before")
      -- wrk itself waits for the end of its -d: the time is that from the first request to the last
      -- answer.
      local begun, ended
      for _, thread in ipairs(threads) do
         local first, last = thread:get("begin_s"), thread:get("end_s")
         begun = first and math.min(begun or first, first) or begun
         ended = last and math.max(ended or last, last) or ended
      end
      local seconds = begun and ended and ended - begun or nil
      io.write(string.format('{"script":"%s","due":%d,"sent":%d,"answered":%d,"unsent":%d,' ..
         '"seconds":%s,"answered_per_s":%s,"latency_us":{"p50":%s,"p99":%s,"max":%s},' ..
         '"outcomes":{%s},"server_stages":%s}\n', M.name, all.due, all.sent, all.answered,
         all.due - all.sent, json(seconds), json(seconds and all.answered / seconds),
         json(all.answered > 0 and latency:percentile(50) or nil),
         json(all.answered > 0 and latency:percentile(99) or nil),
         json(all.answered > 0 and latency.max or nil), table.concat(parts, ","),
         stage_text(before ~= "" and before or nil, before ~= "" and metrics() or nil)))
   end
end

return M
