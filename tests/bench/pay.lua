-- wrk's requests: payments with a fresh key each, replays of keys that were paid before, or a mix.
-- Arguments after `--`: API key, a name that no other run has used, popular (0 or 1), the share of
-- replays (0 to 1), how many keys were paid before. Without the last three it asks for /healthz.
-- Prints one JSON line at the end.
local api_key, run, popular, replay_share, replay_keys
local sequence = 0

local function body_of(source, destination)
  return '{"amount":1999,"currency":"EUR","source":"account:' .. source ..
    '","destination":"account:' .. destination ..
    '","description":"order 1001","metadata":{"order":"1001"}}'
end

local head

function init(arguments)
  api_key, run = arguments[1], arguments[2]
  if #arguments == 2 then
    local health = wrk.format('GET', '/healthz')
    request = function() return health end
    return
  end
  popular = arguments[3] == '1'
  replay_share, replay_keys = tonumber(arguments[4]), tonumber(arguments[5])
  math.randomseed(os.time() + string.len(run))
  -- By hand, because wrk.format costs more than the service's share of a replay.
  head = 'POST /v1/payments HTTP/1.1\r\nHost: ' .. wrk.headers['Host'] ..
    '\r\nAuthorization: Bearer ' .. api_key .. '\r\nContent-Type: application/json\r\n' ..
    'Idempotency-Key: '
end

function request()
  local key, body
  if replay_share > 0 and math.random() < replay_share then
    local n = math.random(0, replay_keys - 1)
    key, body = 'paid-' .. n, body_of(n, n + 1)
  else
    local source = math.random(0, 9999)
    local destination = popular and 10000 or (source + math.random(1, 9999)) % 10000
    sequence = sequence + 1
    key, body = run .. '-' .. sequence, body_of(source, destination)
  end
  return head .. key .. '\r\nContent-Length: ' .. #body .. '\r\n\r\n' .. body
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    'JSON {"requests":%d,"seconds":%.6f,"p50_us":%d,"p99_us":%d,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
