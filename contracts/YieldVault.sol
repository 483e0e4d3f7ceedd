// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {TestToken} from "./TestToken.sol";

/// @title An ERC-4626 vault that earns a settable yearly rate
/// @notice Its assets grow linearly with the block's time between two interactions, and by what has accrued at each
/// interaction. It mints the yield it owes before anyone's assets move, so it always holds what its shares are worth and
/// everyone can leave whole; its token has to let it mint. Its owner can pause it: nothing goes in or out then, and yield accrues all the same.
/// @dev Assets are counted by the vault, not read from its token balance: a donation changes no share price, which
/// together with the virtual shares of OpenZeppelin's ERC-4626 leaves an inflation attack nothing to work with.
contract YieldVault is ERC4626, Ownable, Pausable {
    /// @notice Yield was minted; `totalAssets` includes it.
    event Accrued(uint256 yield, uint256 totalAssets);

    /// @notice The yearly rate was changed by the owner.
    event RateChanged(uint256 rate);

    /// @notice Raised when a rate is over `max`.
    error RateTooHigh(uint256 rate, uint256 max);

    /// @notice The highest rate: 10,000 % a year.
    uint256 public constant MAX_RATE = 100e18;

    /// @notice Deposits stop here. Far beyond any amount in use, and small enough that accruing cannot overflow.
    uint256 public constant MAX_ASSETS = type(uint128).max;

    uint256 private constant ONE_YEAR_AT_FULL_RATE = 365 days * 1e18;

    /// @notice Yearly rate; 1e18 is 100 % a year.
    uint256 public rate;

    /// @notice The yearly rate the vault was made with.
    uint256 public immutable initialRate;

    /// @dev Assets as of `_accruedAt`.
    uint256 private _assets;

    /// @dev What the last accrual rounded down, so that frequent interactions lose no yield. In units of
    /// 1 / ONE_YEAR_AT_FULL_RATE.
    uint256 private _remainder;

    /// @dev The latest block time seen. It never goes back, even if the chain's clock does.
    uint256 private _accruedAt;

    /// @param asset_ The token taken in
    /// @param name_ Name of the share token
    /// @param symbol_ Symbol of the share token
    /// @param rate_ Yearly rate; 1e18 is 100 % a year
    constructor(TestToken asset_, string memory name_, string memory symbol_, uint256 rate_)
        ERC4626(asset_)
        ERC20(name_, symbol_)
        Ownable(msg.sender)
    {
        _accruedAt = block.timestamp;
        initialRate = rate_;
        _setRate(rate_);
    }

    /// @notice Changes the yearly rate from now on; what was earned so far is kept.
    /// @param rate_ 1e18 is 100 % a year
    function setRate(uint256 rate_) external onlyOwner {
        _accrue();
        _setRate(rate_);
    }

    /// @notice Stops deposits and withdrawals, or lets them through again. Does nothing if that is so already.
    function setPaused(bool paused_) external onlyOwner {
        if (paused_ == paused()) return;
        if (paused_) _pause();
        else _unpause();
    }

    /// @notice All assets under management, yield owed but not yet minted included.
    function totalAssets() public view override returns (uint256) {
        (uint256 owed,) = _owed();
        return _assets + owed;
    }

    /// @inheritdoc ERC4626
    function maxDeposit(address) public view override returns (uint256) {
        if (paused()) return 0;
        uint256 assets = totalAssets();
        return assets < MAX_ASSETS ? MAX_ASSETS - assets : 0;
    }

    /// @inheritdoc ERC4626
    function maxMint(address receiver) public view override returns (uint256) {
        return convertToShares(maxDeposit(receiver));
    }

    /// @inheritdoc ERC4626
    /// @dev `maxWithdraw` follows from it.
    function maxRedeem(address owner) public view override returns (uint256) {
        return paused() ? 0 : super.maxRedeem(owner);
    }

    /// @dev Accrues first: the shares were computed with the yield owed so far included.
    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override whenNotPaused {
        _accrue();
        _assets += assets;
        super._deposit(caller, receiver, assets, shares);
    }

    /// @dev Accrues first, while the leaving shares still count: the last one out is paid in full as well.
    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
        whenNotPaused
    {
        _accrue();
        _assets -= assets;
        super._withdraw(caller, receiver, owner, assets, shares);
    }

    /// @dev Six more decimals than the asset: share prices stay exact to a minor unit.
    function _decimalsOffset() internal pure override returns (uint8) {
        return 6;
    }

    function _setRate(uint256 rate_) private {
        if (rate_ > MAX_RATE) revert RateTooHigh(rate_, MAX_RATE);
        rate = rate_;
        emit RateChanged(rate_);
    }

    /// @dev Mints the yield owed into the vault.
    function _accrue() private {
        (uint256 owed, uint256 remainder) = _owed();
        _remainder = remainder;
        if (block.timestamp > _accruedAt) _accruedAt = block.timestamp;
        if (owed == 0) return;
        _assets += owed;
        TestToken(asset()).mint(address(this), owed);
        emit Accrued(owed, _assets);
    }

    /// @dev Yield since the last accrual, and what rounding it down leaves over. An empty vault earns nothing: there is
    /// nobody to earn it.
    function _owed() private view returns (uint256 owed, uint256 remainder) {
        if (totalSupply() == 0) return (0, 0);
        uint256 elapsed = block.timestamp > _accruedAt ? block.timestamp - _accruedAt : 0;
        uint256 scaled = _assets * rate * elapsed + _remainder;
        return (scaled / ONE_YEAR_AT_FULL_RATE, scaled % ONE_YEAR_AT_FULL_RATE);
    }
}
