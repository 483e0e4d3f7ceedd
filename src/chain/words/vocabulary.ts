import type { AbiEvent, AbiFunction } from 'viem'
import { parseAbi, parseAbiItem, toEventSelector, toFunctionSelector } from 'viem/utils'
import type { Wording } from './wording.ts'

/** A function or an event, and the sentence that says what it did. */
type Phrase = readonly [signature: string, sentence: (wording: Wording) => string]

/** Functions of tokens, of both protocols, and of the markets' owner. */
const CALLS: readonly Phrase[] = [
  [
    'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
    (w) => `Supply ${w.amount('amount')} to ${w.here} for ${w.name('onBehalfOf')}`,
  ],
  [
    'function withdraw(address asset, uint256 amount, address to)',
    (w) => `Withdraw ${w.paidOut ?? w.amount('amount')} from ${w.here} to ${w.name('to')}`,
  ],
  [
    'function borrow(address asset, uint256 amount, uint256 interestRateMode, uint16 referralCode, address onBehalfOf)',
    (w) => `Borrow ${w.amount('amount')} from ${w.here} for ${w.name('onBehalfOf')}`,
  ],
  [
    'function repay(address asset, uint256 amount, uint256 interestRateMode, address onBehalfOf)',
    (w) => `Repay ${w.amount('amount')} to ${w.here} for ${w.name('onBehalfOf')}`,
  ],
  [
    'function deposit(uint256 assets, address receiver)',
    (w) => `Deposit ${w.amount('assets')} into ${w.here} for ${w.name('receiver')}`,
  ],
  [
    'function mint(uint256 shares, address receiver)',
    (w) => `Buy ${w.text('shares')} shares of ${w.here} for ${w.name('receiver')}`,
  ],
  [
    'function withdraw(uint256 assets, address receiver, address owner)',
    (w) => `Withdraw ${w.amount('assets')} from ${w.here} to ${w.name('receiver')}`,
  ],
  [
    'function redeem(uint256 shares, address receiver, address owner)',
    (w) =>
      `Withdraw ${w.paidOut ?? `what ${w.text('shares')} shares are worth`} from ${w.here} to ${w.name('receiver')}`,
  ],
  [
    'function transfer(address to, uint256 value)',
    (w) => `Send ${w.amount('value')} from ${w.sender} to ${w.name('to')}`,
  ],
  [
    'function transferFrom(address from, address to, uint256 value)',
    (w) => `Send ${w.amount('value')} from ${w.name('from')} to ${w.name('to')}`,
  ],
  [
    'function approve(address spender, uint256 value)',
    (w) => `Allow ${w.name('spender')} to take ${w.amount('value')} of ${w.sender}`,
  ],
  ['function mint(address to, uint256 amount)', (w) => `Make ${w.amount('amount')} for ${w.name('to')}`],
  [
    'function setMinter(address account, bool allowed)',
    (w) => `${w.is('allowed') ? 'Let' : 'No longer let'} ${w.name('account')} make ${w.here}`,
  ],
  [
    'function setReservePause(address asset, bool paused)',
    (w) => `${w.is('paused') ? 'Pause' : 'Resume'} ${w.name('asset')} at Aave`,
  ],
  [
    'function setReserveInterestRateStrategyAddress(address asset, address strategy)',
    (w) => `Let ${w.name('strategy')} set the rate of ${w.name('asset')} at Aave`,
  ],
  [
    'function setRate(address reserve, uint256 rate)',
    (w) => `Set the yearly rate of ${w.name('reserve')} at Aave to ${w.percent('rate', 27)}`,
  ],
  ['function setRate(uint256 rate)', (w) => `Set the yearly rate of ${w.here} to ${w.percent('rate', 18)}`],
  ['function setPaused(bool paused)', (w) => `${w.is('paused') ? 'Pause' : 'Resume'} ${w.here}`],
  ['function execute(address target, bytes data)', (w) => w.inner('target', 'data')],
]

/** Events of the same. */
const EVENTS: readonly Phrase[] = [
  [
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    (w) => `${w.amount('value')} went from ${w.name('from')} to ${w.name('to')}`,
  ],
  [
    'event Approval(address indexed owner, address indexed spender, uint256 value)',
    (w) => `${w.name('spender')} may take ${w.amount('value')} of ${w.name('owner')}`,
  ],
  [
    'event Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount, uint16 indexed referralCode)',
    (w) => `${w.amount('amount')} was supplied to ${w.here} for ${w.name('onBehalfOf')}`,
  ],
  [
    'event Withdraw(address indexed reserve, address indexed user, address indexed to, uint256 amount)',
    (w) => `${w.amount('amount')} was withdrawn from ${w.here} by ${w.name('user')} to ${w.name('to')}`,
  ],
  [
    'event Borrow(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount, uint8 interestRateMode, uint256 borrowRate, uint16 indexed referralCode)',
    (w) => `${w.amount('amount')} was borrowed from ${w.here} for ${w.name('onBehalfOf')}`,
  ],
  [
    'event Repay(address indexed reserve, address indexed user, address indexed repayer, uint256 amount, bool useATokens)',
    (w) => `${w.amount('amount')} was repaid to ${w.here} for ${w.name('user')}`,
  ],
  [
    'event ReserveDataUpdated(address indexed reserve, uint256 liquidityRate, uint256 stableBorrowRate, uint256 variableBorrowRate, uint256 liquidityIndex, uint256 variableBorrowIndex)',
    (w) => `${w.here} now pays ${w.percent('liquidityRate', 27)} a year on ${w.name('reserve')}`,
  ],
  [
    'event ReserveUsedAsCollateralEnabled(address indexed reserve, address indexed user)',
    (w) => `${w.name('reserve')} of ${w.name('user')} counts as collateral`,
  ],
  [
    'event ReserveUsedAsCollateralDisabled(address indexed reserve, address indexed user)',
    (w) => `${w.name('reserve')} of ${w.name('user')} no longer counts as collateral`,
  ],
  [
    'event Mint(address indexed caller, address indexed onBehalfOf, uint256 value, uint256 balanceIncrease, uint256 index)',
    (w) =>
      `${w.amount('value')} of ${w.name('onBehalfOf')} was booked, of that ${w.amount('balanceIncrease')} interest`,
  ],
  [
    'event Burn(address indexed from, address indexed target, uint256 value, uint256 balanceIncrease, uint256 index)',
    (w) => `${w.amount('value')} of ${w.name('from')} was taken off, besides ${w.amount('balanceIncrease')} interest`,
  ],
  [
    'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
    (w) => `${w.amount('assets')} was deposited into ${w.here} for ${w.name('owner')}`,
  ],
  [
    'event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)',
    (w) => `${w.amount('assets')} was withdrawn from ${w.here} of ${w.name('owner')} to ${w.name('receiver')}`,
  ],
  ['event Accrued(uint256 yield, uint256 totalAssets)', (w) => `${w.here} booked ${w.amount('yield')} of yield`],
  ['event RateChanged(uint256 rate)', (w) => `${w.here} now pays ${w.percent('rate', 18)} a year`],
  ['event Paused(address account)', (w) => `${w.here} was paused`],
  ['event Unpaused(address account)', (w) => `${w.here} was resumed`],
  [
    'event ReservePaused(address indexed asset, bool paused)',
    (w) => `${w.name('asset')} at Aave was ${w.is('paused') ? 'paused' : 'resumed'}`,
  ],
  [
    'event ReserveInterestRateStrategyChanged(address indexed asset, address oldStrategy, address newStrategy)',
    (w) => `The rate of ${w.name('asset')} at Aave is set by ${w.name('newStrategy')}`,
  ],
  [
    'event MinterSet(address indexed account, bool allowed)',
    (w) => `${w.name('account')} may ${w.is('allowed') ? '' : 'no longer '}make ${w.here}`,
  ],
]

/** A function that is known, by its selector. */
export const KNOWN_CALLS: ReadonlyMap<string, { item: AbiFunction; sentence: Phrase[1] }> = new Map(
  CALLS.map(([signature, sentence]) => {
    const item = parseAbiItem(signature as 'function f()') as AbiFunction
    return [toFunctionSelector(item), { item, sentence }]
  }),
)

/** An event that is known, by its first topic. */
export const KNOWN_EVENTS: ReadonlyMap<string, { item: AbiEvent; sentence: Phrase[1] }> = new Map(
  EVENTS.map(([signature, sentence]) => {
    const item = parseAbiItem(signature as 'event E()') as AbiEvent
    return [toEventSelector(item), { item, sentence }]
  }),
)

/** Errors with which tokens, vaults and markets revert. */
export const KNOWN_ERRORS = parseAbi([
  'error EnforcedPause()',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InvalidReceiver(address receiver)',
  'error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)',
  'error NotOperator(address account)',
  'error NotMinter(address account)',
  'error OwnableUnauthorizedAccount(address account)',
  'error RateTooHigh(uint256 rate, uint256 max)',
  'error ReservePaused()',
  'error InvalidAmount()',
  'error NotEnoughAvailableUserBalance()',
])

/** Messages of Aave's versions up to 3.4, which are numbers. */
export const AAVE_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['26', 'the amount must be above zero'],
  ['27', 'the reserve is not active'],
  ['28', 'the reserve is frozen'],
  ['29', 'the reserve is paused'],
  ['32', 'the user does not have so much in the reserve'],
  ['51', 'the supply cap is reached'],
])
