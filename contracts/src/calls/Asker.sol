// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Reader} from "./Reader.sol";

/// @title Many questions in one call, to contracts that change something on the way to their answer
/// @notice A quoter swaps and takes it back, so it cannot be asked by a static call. Sent and answered as {Reader}. Nothing
/// of it stays, as it runs in an `eth_call`; what an earlier question leaves, a later one sees.
contract Asker is Reader {
    constructor(Read[] memory reads) Reader(reads) {}

    function _read(address target, bytes memory data, uint256 gasMax) internal override returns (Result memory result) {
        bool success;
        uint256 size;
        assembly ("memory-safe") {
            success := call(gasMax, target, 0, add(data, 0x20), mload(data), 0, 0)
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
