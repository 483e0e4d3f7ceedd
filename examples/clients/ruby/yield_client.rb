# frozen_string_literal: true

# A client of the Yield Portfolio Partner API, with Ruby's standard library alone (3.1 or later). Threads may share one.

require 'json'
require 'net/http'
require 'openssl'
require 'securerandom'
require 'set'
require 'time'

class YieldClient
  PASSING = [408, 429, 500, 502, 503, 504].freeze # the same request may succeed later; others are final
  TIMEOUT = 90 # seconds to wait for an answer: a transfer may take a minute
  LOOKS = 30 # a transfer of unknown outcome is looked for in the list for a minute
  LOOK_PAUSE = 2

  # The service answered, and the answer is an error. Programs go by `code`.
  class ApiError < StandardError
    attr_reader :status, :code, :request_id, :retry_after

    def initialize(response, code, detail)
      @status = response.code.to_i
      @code = code
      @request_id = response['X-Service-Request-Id']
      @retry_after = seconds(response['Retry-After'])
      super("#{status} #{code}: #{detail} (request #{request_id})")
    end

    private

    # Retry-After has seconds or a date (RFC 9110 section 10.2.3).
    def seconds(text)
      return text&.to_i if text.nil? || text.match?(/\A\d+\z/)

      [Time.httpdate(text) - Time.now, 0].max
    rescue ArgumentError
      nil
    end
  end

  # The connection broke, time ran out, or the body was cut. What was asked for may have happened.
  class NoAnswer < StandardError; end

  # What was asked for may have happened: no retry and no look-up could say. Repeat the same request under `key`, until it succeeds or is
  # refused with 422; never under a fresh one.
  class OutcomeUnknown < StandardError
    attr_reader :key

    def initialize(key)
      @key = key
      super("the outcome is unknown; repeat the same request with Idempotency-Key #{key}")
    end
  end

  def initialize(base_url:, auth_url:, client_id:, client_secret:, scope:, audience:, issuer:, key_id:, private_key_pem:, attempts: 12)
    @base_url = base_url
    @auth_url = URI(auth_url)
    @form = { grant_type: 'client_credentials', client_id: client_id, client_secret: client_secret, scope: scope }
    @claims = { iss: issuer, aud: audience }
    @header = { alg: 'RS256', kid: key_id, typ: 'JWT' }
    @private_key = OpenSSL::PKey::RSA.new(private_key_pem)
    @attempts = attempts
    @user_tokens = {}
    @told = Set.new # hashes of transfers that callers know of; a service keeps them in its database
    @lock = Mutex.new
    @token_lock = Mutex.new # held while a token is fetched
  end

  def pools(limit: 100) = list('pools', nil, limit, 'pool_id')

  def create_end_user(external_id) = send_request('POST', 'end_users', body: { external_id: external_id })

  # `pool` as the list shows it: market_address is not the token's address.
  def create_portfolio(user, pool, name, key: SecureRandom.uuid)
    body = { name: name, **pool.slice('chain_id', 'token_address', 'market_address', 'protocol') }
    send_request('POST', path(user, 'portfolios'), user: user, key: key, body: body)
  end

  def portfolios(user, limit: 100) = list(path(user, 'portfolios'), user, limit, 'portfolio_id')

  # Returns when it is confirmed. `amount`: an Integer in the token's minor units.
  def deposit(user, portfolio_id, amount, key: SecureRandom.uuid) = transfer('deposit', user, portfolio_id, amount, key)

  def withdraw(user, portfolio_id, amount, key: SecureRandom.uuid) = transfer('withdraw', user, portfolio_id, amount, key)

  # Newest first.
  def transactions(user, limit: 100) = list(path(user, 'transactions'), user, limit, 'id')

  private

  def transfer(kind, user, portfolio_id, amount, key)
    body = { portfolio_id: portfolio_id, amount_minor: amount.to_s }
    done = send_request('POST', path(user, kind), user: user, key: key, body: body)
    tell(done)
    done
  rescue ApiError, NoAnswer => error
    raise unless may_pass?(error)

    look_up(kind, user, portfolio_id, amount) || raise(OutcomeUnknown, key)
  end

  # A transfer like this one that no answer told of. It is listed once it is confirmed: not there yet does not mean never.
  def look_up(kind, user, portfolio_id, amount)
    LOOKS.times do |look|
      sleep(LOOK_PAUSE) if look.positive?
      found = page(path(user, 'transactions'), user, 100, nil)['data'].find do |one|
        one['portfolio_id'] == portfolio_id && one['type'].start_with?(kind) && one['amount_changed'] == amount.to_s && tell(one)
      end
      return found if found
    rescue ApiError, NoAnswer => error
      return nil unless may_pass?(error)
    end
    nil
  end

  # Remembers that the caller was told of it; nil if that was so already.
  def tell(transfer) = @lock.synchronize { @told.add?(transfer['tx_hash']) }

  # Every item once, page by page; from the first page again when the cursor has expired. Cursors are passed on as they came.
  def list(path, user, limit, id)
    return to_enum(:list, path, user, limit, id) unless block_given?

    seen = Set.new
    cursor = nil
    restarts = 0
    loop do
      begin
        answer = page(path, user, limit, cursor)
      rescue ApiError => error
        raise if error.code != 'cursor_expired' || (restarts += 1) > 3

        answer = page(path, user, limit, nil)
      end
      answer['data'].each { |item| yield item if seen.add?(item[id]) }
      cursor = answer['next_cursor']
      break if cursor.nil?
    end
  end

  def page(path, user, limit, cursor)
    query = URI.encode_www_form({ limit: limit, starting_after: cursor }.compact)
    send_request('GET', "#{path}?#{query}", user: user)
  end

  # Retries keep the key: whatever became of the first request, it happens once. A refusal such as 401 says nothing of an earlier attempt
  # that was lost: only 422 is the outcome of a key.
  def send_request(method, path, user: nil, key: nil, body: nil)
    attempt = 0
    begin
      attempt += 1
      with_tokens(user) { |*tokens| exchange(method, path, tokens, key, body) }
    rescue ApiError, NoAnswer => error
      final = !may_pass?(error)
      raise OutcomeUnknown, key if final && attempt > 1 && key && error.status != 422
      raise if final || attempt >= @attempts

      sleep(pause(error, attempt))
      retry
    end
  end

  # A token that is refused is renewed once, and the request repeated as it was.
  def with_tokens(user)
    idp = idp_token
    yield idp, user && user_token(user)
  rescue ApiError => error
    case error.code
    when 'invalid_idp_token' then yield idp_token(refused: idp), user && user_token(user)
    when 'invalid_user_token' then yield idp, user_token(user, renew: true)
    else raise
    end
  end

  def exchange(method, path, (idp, user_token), key, body)
    uri = URI("#{@base_url}/v1/partner/#{path}")
    request = Net::HTTP.const_get(method.capitalize).new(uri)
    request['Authorization'] = "Bearer #{idp}"
    request['X-User-Token'] = user_token
    request['Idempotency-Key'] = key
    if body
      request['Content-Type'] = 'application/json'
      request.body = JSON.generate(body)
    end
    answer_of(uri, request)
  end

  def answer_of(uri, request)
    http = Net::HTTP.new(uri.host, uri.port)
    http.use_ssl = uri.scheme == 'https'
    http.open_timeout = 10
    http.read_timeout = TIMEOUT
    http.max_retries = 0 # send_request repeats, and counts
    request['Accept-Encoding'] = 'identity' # so that the length below is that of the body
    response = http.start { http.request(request) }
    # Net::HTTP takes half of a body for a whole one, and the code of an error would be gone.
    raise NoAnswer, 'half of an answer' if response.body.to_s.bytesize < response['Content-Length'].to_i

    fields = parsed(response.body)
    raise ApiError.new(response, fields&.values_at('code', 'error')&.compact&.first, fields&.dig('detail')) unless response.is_a?(Net::HTTPSuccess)

    fields || raise(NoAnswer, 'an answer that cannot be read')
  rescue SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError,
         Net::HTTPBadResponse, Zlib::Error => error
    raise NoAnswer, error.message
  end

  # nil when it is no JSON object: a proxy's page, half of a body.
  def parsed(text)
    value = JSON.parse(text.to_s)
    value if value.is_a?(Hash)
  rescue JSON::ParserError
    nil
  end

  # Cached until 60 seconds before it expires; threads share one request for it.
  def idp_token(refused: nil)
    @token_lock.synchronize do
      return @idp_token if @idp_token && @idp_token != refused && now < @stale_at

      request = Net::HTTP::Post.new(@auth_url)
      request.set_form_data(@form)
      asked = now
      answer = answer_of(@auth_url, request)
      @stale_at = asked + answer['expires_in'].to_i - 60
      @idp_token = answer['access_token']
    end
  end

  # Signed with the partner's key, kept until five minutes before its hour is over.
  def user_token(user, renew: false)
    @lock.synchronize do
      issued = Time.now.to_i
      token, expires = @user_tokens[user]
      return token if token && !renew && issued < expires - 300

      claims = { sub: user, **@claims, iat: issued, exp: issued + 3600, jti: SecureRandom.uuid }
      signed = [@header, claims].map { |part| base64url(JSON.generate(part)) }.join('.')
      token = "#{signed}.#{base64url(@private_key.sign('SHA256', signed))}"
      @user_tokens[user] = [token, issued + 3600]
      token
    end
  end

  # Whether the failure is nothing final about what was asked for.
  def may_pass?(error)
    error.is_a?(NoAnswer) || PASSING.include?(error.status) || error.code == 'idempotency_key_in_progress'
  end

  # What the service asks for, else 0.25, 0.5, 1, 2, 4, 4, … s; chance keeps many clients apart.
  def pause(error, attempt)
    asked = error.retry_after if error.is_a?(ApiError)
    asked ? asked + rand * 0.1 : [4, 0.125 * 2**attempt].min * (0.75 + rand / 2)
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def base64url(bytes) = [bytes].pack('m0').tr('+/', '-_').delete('=')

  def path(user, rest) = "end_users/#{URI.encode_www_form_component(user).gsub('+', '%20')}/#{rest}"
end
