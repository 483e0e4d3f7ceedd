// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token of the embedded chain
/// @notice An ERC-20 that its owner mints, and whoever the owner lets: the vaults, which mint the yield they owe. A client
/// that could mint would lend and borrow a whole market for nothing, and everybody else would stand before an empty one.
contract TestToken is ERC20, Ownable {
    /// @notice Somebody may mint from now on, or not any more.
    event MinterSet(address indexed account, bool allowed);

    /// @notice Raised when somebody mints who may not.
    error NotMinter(address account);

    /// @notice Raised when one call mints more than `max`.
    error MintTooLarge(uint256 amount, uint256 max);

    /// @notice The most one call may mint: more than any vault will owe, and too little to fill the supply up to
    /// 2^256 - 1, after which no vault could mint its yield any more.
    uint256 public constant MAX_MINT = type(uint192).max;

    uint8 private immutable _decimals;

    /// @notice Who may mint beside the owner.
    mapping(address account => bool) public isMinter;

    /// @param name_ Name, as wallets show it
    /// @param symbol_ Ticker symbol
    /// @param decimals_ Number of decimals of one whole token
    /// @param owner_ Who mints, and says who else may
    constructor(string memory name_, string memory symbol_, uint8 decimals_, address owner_)
        ERC20(name_, symbol_)
        Ownable(owner_)
    {
        _decimals = decimals_;
    }

    /// @notice Lets an account mint, or not any more.
    function setMinter(address account, bool allowed) external onlyOwner {
        isMinter[account] = allowed;
        emit MinterSet(account, allowed);
    }

    /// @notice Creates `amount` minor units for `to`.
    function mint(address to, uint256 amount) external {
        if (msg.sender != owner() && !isMinter[msg.sender]) revert NotMinter(msg.sender);
        if (amount > MAX_MINT) revert MintTooLarge(amount, MAX_MINT);
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function decimals() public view override returns (uint8) {
        return _decimals;
    }
}
