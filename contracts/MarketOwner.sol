// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title The owner of the embedded chain's tokens and markets
/// @notice Does what its operator asks. No function says who that is: the sandbox writes a key of its own into the storage
/// when it has something to change, so that no key to the markets is in the built state, and none is worth looking for.
contract MarketOwner {
    /// @notice Raised when somebody else than the operator asks.
    error NotOperator(address account);

    /// @notice Who may ask. First in storage, where the sandbox writes it.
    address public operator;

    /// @notice Calls a contract as the owner of it; fails as the call fails.
    function execute(address target, bytes calldata data) external {
        if (msg.sender != operator) revert NotOperator(msg.sender);
        (bool done, bytes memory answer) = target.call(data);
        if (done) return;
        assembly ("memory-safe") {
            revert(add(answer, 32), mload(answer))
        }
    }
}
