// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title An Aave V3 interest rate strategy whose supply rates are set by hand
/// @notice While it is a reserve's strategy, suppliers earn the rate set for that reserve, however much of it is lent
/// out, and borrowers pay for it in full: what suppliers are owed is backed by debt. Each reserve's own strategy is
/// remembered, so that it can be given back.
/// @dev Rates are yearly, in rays (1e27 is 100 %).
contract SettableRates is Ownable {
    /// @notice A reserve's supply rate was set by the owner.
    event RateSet(address indexed reserve, uint256 rate);

    /// @notice Raised when a rate is over `max`.
    error RateTooHigh(uint256 rate, uint256 max);

    /// @dev As Aave's pool passes it: `DataTypes.CalculateInterestRatesParams`.
    struct CalculateInterestRatesParams {
        uint256 unbacked;
        uint256 liquidityAdded;
        uint256 liquidityTaken;
        uint256 totalStableDebt;
        uint256 totalVariableDebt;
        uint256 averageStableBorrowRate;
        uint256 reserveFactor;
        address reserve;
        address aToken;
    }

    /// @notice The highest supply rate: 10,000 % a year.
    uint256 public constant MAX_RATE = 100e27;

    uint256 private constant ALL_BASIS_POINTS = 10_000;

    /// @dev At least a thousandth of what is supplied counts as lent: with hardly any debt, the borrowers' rate would know
    /// no bounds.
    uint256 private constant MOST_SUPPLIED_PER_LENT = 1_000;

    /// @notice The supply rate of a reserve.
    mapping(address reserve => uint256) public rate;

    /// @notice The strategy a reserve has otherwise.
    mapping(address reserve => address) public original;

    /// @param reserves The tokens of a market
    /// @param originals Their strategies, in the same order
    constructor(address[] memory reserves, address[] memory originals) Ownable(msg.sender) {
        for (uint256 i = 0; i < reserves.length; i++) original[reserves[i]] = originals[i];
    }

    /// @notice Sets what suppliers of a reserve earn. The pool takes it over at its next interaction with the reserve.
    /// @param rate_ 1e27 is 100 % a year
    function setRate(address reserve, uint256 rate_) external onlyOwner {
        if (rate_ > MAX_RATE) revert RateTooHigh(rate_, MAX_RATE);
        rate[reserve] = rate_;
        emit RateSet(reserve, rate_);
    }

    /// @notice Called by Aave's pool (`IReserveInterestRateStrategy`). Nothing is lent at a stable rate.
    /// @return liquidityRate What suppliers earn
    /// @return stableBorrowRate Zero
    /// @return variableBorrowRate What borrowers pay: the suppliers' yield and the treasury's share of it
    function calculateInterestRates(CalculateInterestRatesParams calldata params)
        external
        view
        returns (uint256 liquidityRate, uint256 stableBorrowRate, uint256 variableBorrowRate)
    {
        liquidityRate = rate[params.reserve];
        uint256 debt = params.totalStableDebt + params.totalVariableDebt;
        uint256 idle = IERC20(params.reserve).balanceOf(params.aToken) + params.liquidityAdded - params.liquidityTaken;
        uint256 supplied = idle + params.unbacked + debt;
        if (supplied == 0) return (liquidityRate, 0, liquidityRate);
        uint256 lent = Math.max(debt, Math.ceilDiv(supplied, MOST_SUPPLIED_PER_LENT));
        uint256 gross = Math.mulDiv(liquidityRate, supplied, lent, Math.Rounding.Ceil);
        uint256 suppliersShare = ALL_BASIS_POINTS - params.reserveFactor;
        if (suppliersShare == 0) return (liquidityRate, 0, gross);
        variableBorrowRate = Math.mulDiv(gross, ALL_BASIS_POINTS, suppliersShare, Math.Rounding.Ceil);
    }
}
