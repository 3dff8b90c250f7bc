// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

/// @title Many reads in one call, without being deployed
/// @notice Sent as the creation code of an `eth_call`; what the constructor returns is the answer:
/// `(uint256 blockNumber, uint256 timestamp, Result[] results)`, one result for each read, in order.
/// @dev A read with empty data answers `(uint256 balance, uint256 codeLength)` of its target instead of calling it.
contract Reader {
    struct Read {
        address target;
        bytes data;
    }

    struct Result {
        bool success;
        bytes data;
    }

    /// @dev Longer answers are cut: nothing read here is longer, and a hostile target must not fill the memory.
    uint256 internal constant ANSWER_BYTES_MAX = 1024;

    constructor(Read[] memory reads) {
        Result[] memory results = new Result[](reads.length);
        for (uint256 i = 0; i < reads.length; i++) {
            results[i] = reads[i].data.length == 0
                ? Result(true, abi.encode(reads[i].target.balance, reads[i].target.code.length))
                : _read(reads[i].target, reads[i].data, gasleft() / (reads.length - i + 1));
        }
        bytes memory answer = abi.encode(block.number, block.timestamp, results);
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }

    function _read(address target, bytes memory data, uint256 gasMax) internal virtual returns (Result memory result) {
        bool success;
        uint256 size;
        assembly ("memory-safe") {
            success := staticcall(gasMax, target, add(data, 0x20), mload(data), 0, 0)
            size := returndatasize()
        }
        if (size > ANSWER_BYTES_MAX) size = ANSWER_BYTES_MAX;
        bytes memory returned = new bytes(size);
        assembly ("memory-safe") {
            returndatacopy(add(returned, 0x20), 0, size)
        }
        return Result(success, returned);
    }
}
