# frozen_string_literal: true

# Against a sandbox that runs: yield-sandbox, then ruby test/yield_client_test.rb
# With a sandbox of its own: yield-sandbox exec -- ruby test/yield_client_test.rb

require 'minitest/autorun'
require_relative '../yield_client'

# A world of its own for each test, by one call. Under exec and explore, which give one already, that is taken: requests elsewhere
# would not be judged.
module Sandbox
  NAMES = %i[base_url auth_url client_id client_secret scope audience issuer key_id private_key_pem].freeze

  def setup
    @control = ENV['YIELD_CONTROL_URL'] || 'http://127.0.0.1:4010/_sandbox'
    return use(NAMES.to_h { |name| [name, ENV.fetch("YIELD_#{name.upcase}")] }) if ENV['YIELD_CLIENT_ID']

    made = control('Post', "#{@control}/namespaces", { confirmation_delay: '0' })
    @control = @own = made['control_url']
    given = made.merge(made['tenants'][0]).transform_keys(&:to_sym)
    use(given.merge(key_id: given[:kid]).slice(*NAMES))
  end

  def teardown = @own && control('Delete', @own)

  def use(settings) = @client = YieldClient.new(**settings)

  # Asks the control interface.
  def control(method, url, body = nil)
    uri = URI(url)
    headers = { 'Content-Type' => 'application/json', 'Authorization' => "Bearer #{ENV.fetch('YIELD_SANDBOX_CONTROL_TOKEN', '')}" }
    request = Net::HTTP.const_get(method).new(uri, headers)
    request.body = JSON.generate(body) if body
    response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https') { |http| http.request(request) }
    raise "#{response.code} #{response.body}" unless response.is_a?(Net::HTTPSuccess)

    JSON.parse(response.body) if response.body
  end
end

class YieldClientTest < Minitest::Test
  include Sandbox

  def setup
    super
    @user = "saver-#{SecureRandom.uuid}"
    @client.create_end_user(@user)
    pool = @client.pools.find { |one| one['token_symbol'] == 'USDC' }
    @portfolio_id = @client.create_portfolio(@user, pool, 'Rainy day')['portfolio_id']
  end

  def test_a_deposit_is_listed_once
    transfer = @client.deposit(@user, @portfolio_id, 250_000_000)
    listed = @client.transactions(@user, limit: 1).map { |one| one.slice('tx_hash', 'amount_changed') }
    assert_equal [{ 'tx_hash' => transfer['tx_hash'], 'amount_changed' => '250000000' }], listed
  end

  def test_a_dropped_answer_moves_money_once
    match = { operation: 'deposit', external_id: @user }
    control('Post', "#{@control}/faults", { kind: 'drop_connection', phase: 'after_broadcast', match: match })
    transfer = @client.deposit(@user, @portfolio_id, 5_000_000)
    assert_equal [transfer['tx_hash']], @client.transactions(@user).map { |one| one['tx_hash'] }
  end

  def test_a_retry_that_is_refused_after_a_lost_answer_names_the_key
    match = { operation: 'deposit', external_id: @user }
    control('Post', "#{@control}/faults", { kind: 'drop_connection', phase: 'after_broadcast', match: match })
    control('Post', "#{@control}/faults", { kind: 'error', match: match, with: { code: 'unknown_partner' } })
    unknown = assert_raises(YieldClient::OutcomeUnknown) { @client.deposit(@user, @portfolio_id, 7_000_000) }
    transfer = @client.deposit(@user, @portfolio_id, 7_000_000, key: unknown.key)
    assert_equal [transfer['tx_hash']], @client.transactions(@user).map { |one| one['tx_hash'] }
  end

  def test_more_than_there_is_cannot_be_withdrawn
    error = assert_raises(YieldClient::ApiError) { @client.withdraw(@user, @portfolio_id, 1) }
    assert_match(/\Ainsufficient_balance/, error.code)
  end
end
