// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

/// @title Answers what it was told to, for tests: the outline of a contract that is known by its views alone
contract Answering {
    mapping(bytes32 call => bytes) private _answers;

    error NoAnswer();

    /// @notice `call` is the whole of the calldata, or its first four bytes for every call of that function.
    function tell(bytes calldata call, bytes calldata answer) external {
        _answers[keccak256(call)] = answer;
    }

    fallback(bytes calldata data) external returns (bytes memory answer) {
        answer = _answers[keccak256(data)];
        if (answer.length == 0 && data.length >= 4) answer = _answers[keccak256(data[:4])];
        if (answer.length == 0) revert NoAnswer();
    }
}
