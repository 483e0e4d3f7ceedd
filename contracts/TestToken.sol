// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token of the embedded chain
/// @notice An ERC-20 with a public faucet: anyone may mint. For a local test chain only.
contract TestToken is ERC20 {
    /// @notice Raised when one call mints more than `max`.
    error MintTooLarge(uint256 amount, uint256 max);

    /// @notice The most one call may mint: more than any vault will owe, and too little to fill the supply up to
    /// 2^256 - 1, after which no vault could mint its yield any more.
    uint256 public constant MAX_MINT = type(uint192).max;

    uint8 private immutable _decimals;

    /// @param name_ Name, as wallets show it
    /// @param symbol_ Ticker symbol
    /// @param decimals_ Number of decimals of one whole token
    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) {
        _decimals = decimals_;
    }

    /// @notice Creates `amount` minor units for `to`.
    function mint(address to, uint256 amount) external {
        if (amount > MAX_MINT) revert MintTooLarge(amount, MAX_MINT);
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function decimals() public view override returns (uint8) {
        return _decimals;
    }
}
