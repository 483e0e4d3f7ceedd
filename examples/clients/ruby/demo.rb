# frozen_string_literal: true

# A small suite: moves some money of one end user and checks that every unit is where it should be.
#
#   yield-sandbox exec --scenario dropped-deposit -- ruby examples/clients/ruby/demo.rb

require_relative 'yield_client'

WHOLE = 10**6
$failures = 0

def check(what, holds)
  $failures += 1 unless holds
  puts "#{holds ? 'ok' : 'NOT OK'}: #{what}"
end

# What a person would do who was told that it failed: try anew, which takes a fresh key.
def new_attempt_when_reverted
  yield
rescue YieldClient::ApiError => error
  raise unless error.code == 'transaction_reverted'

  yield
end

def given(name) = ENV[name].to_s.empty? ? nil : ENV[name]

names = %i[base_url auth_url client_id client_secret scope audience issuer key_id private_key_pem]
settings = names.to_h { |name| [name, ENV.fetch("YIELD_#{name.upcase}")] }
client = YieldClient.new(**settings, attempts: (given('DEMO_ATTEMPTS') || 12).to_i)
user = given('YIELD_EXTERNAL_ID') || "demo-#{SecureRandom.uuid}"

pool = client.pools(limit: 2).to_a.find { |one| one['token_symbol'] == 'USDC' }
client.create_end_user(user)
portfolio_id = client.create_portfolio(user, pool, 'Rainy day')['portfolio_id']

expected = {}
[250 * WHOLE, 100 * WHOLE, 50 * WHOLE].each do |amount|
  transfer = new_attempt_when_reverted { client.deposit(user, portfolio_id, amount) }
  expected[transfer['tx_hash']] = amount
end
transfer = new_attempt_when_reverted { client.withdraw(user, portfolio_id, 120 * WHOLE) }
expected[transfer['tx_hash']] = -120 * WHOLE

begin
  client.withdraw(user, portfolio_id, 10**15)
rescue YieldClient::ApiError => error
  refusal = error.code
end
check('more than there is cannot be withdrawn', refusal.to_s.start_with?('insufficient_balance'))

sleep((given('DEMO_PAUSE') || 3).to_f) # long enough for an access token of a minute to become too old
portfolio = client.portfolios(user, limit: 1).to_a.find { |one| one['portfolio_id'] == portfolio_id }
moved = client.transactions(user, limit: 2).select { |one| one['portfolio_id'] == portfolio_id }
check('every transfer is listed once', moved.size == expected.size)
check('every amount is right', moved.all? { |one| one['amount_changed'].to_i == expected.fetch(one['tx_hash'], 0).abs })
# Yield adds to it; the market rounds by a unit or two.
check('the balance is their sum', portfolio['total_balance'].to_i >= expected.values.sum - 5)

client.create_end_user("#{user}-neighbour")
check('a neighbour has none of it', client.transactions("#{user}-neighbour").none?)
exit($failures.zero?)
