// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Many calls in one
/// @notice Has the interface of Multicall3 (https://www.multicall3.com), which clients expect at
/// 0xcA11bde05977b3631167028862bE2a173976CA11 of every chain.
contract Multicall3 {
    struct Call {
        address target;
        bytes callData;
    }

    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Call3Value {
        address target;
        bool allowFailure;
        uint256 value;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    /// @notice Makes every call, or reverts.
    function aggregate(Call[] calldata calls)
        external
        payable
        returns (uint256 blockNumber, bytes[] memory returnData)
    {
        blockNumber = block.number;
        returnData = new bytes[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            returnData[i] = _call(calls[i].target, 0, calls[i].callData, false).returnData;
        }
    }

    /// @notice Makes every call; one that fails reverts all if `requireSuccess`.
    function tryAggregate(bool requireSuccess, Call[] calldata calls) public payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            results[i] = _call(calls[i].target, 0, calls[i].callData, !requireSuccess);
        }
    }

    /// @notice As `tryAggregate`, with the block.
    function tryBlockAndAggregate(bool requireSuccess, Call[] calldata calls)
        public
        payable
        returns (uint256 blockNumber, bytes32 blockHash, Result[] memory results)
    {
        return (block.number, blockhash(block.number), tryAggregate(requireSuccess, calls));
    }

    /// @notice Makes every call, or reverts, with the block.
    function blockAndAggregate(Call[] calldata calls)
        external
        payable
        returns (uint256 blockNumber, bytes32 blockHash, Result[] memory results)
    {
        return tryBlockAndAggregate(true, calls);
    }

    /// @notice Makes every call; each says whether it may fail.
    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            results[i] = _call(calls[i].target, 0, calls[i].callData, calls[i].allowFailure);
        }
    }

    /// @notice As `aggregate3`, with native coin for each call: all of what was sent must be spent.
    function aggregate3Value(Call3Value[] calldata calls) external payable returns (Result[] memory results) {
        uint256 spent;
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            spent += calls[i].value;
            results[i] = _call(calls[i].target, calls[i].value, calls[i].callData, calls[i].allowFailure);
        }
        require(spent == msg.value, "Multicall3: value mismatch");
    }

    function getBlockHash(uint256 blockNumber) external view returns (bytes32) {
        return blockhash(blockNumber);
    }

    function getBlockNumber() external view returns (uint256) {
        return block.number;
    }

    function getCurrentBlockCoinbase() external view returns (address) {
        return block.coinbase;
    }

    function getCurrentBlockDifficulty() external view returns (uint256) {
        return block.prevrandao;
    }

    function getCurrentBlockGasLimit() external view returns (uint256) {
        return block.gaslimit;
    }

    function getCurrentBlockTimestamp() external view returns (uint256) {
        return block.timestamp;
    }

    function getEthBalance(address account) external view returns (uint256) {
        return account.balance;
    }

    function getLastBlockHash() external view returns (bytes32) {
        return blockhash(block.number - 1);
    }

    function getBasefee() external view returns (uint256) {
        return block.basefee;
    }

    function getChainId() external view returns (uint256) {
        return block.chainid;
    }

    function _call(address target, uint256 value, bytes calldata data, bool mayFail) private returns (Result memory result) {
        (result.success, result.returnData) = target.call{value: value}(data);
        require(result.success || mayFail, "Multicall3: call failed");
    }
}
