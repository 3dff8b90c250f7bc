// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

/// @title What a wallet's calls would do, found without sending them
/// @notice Its code is put at a wallet's address for one `eth_call`. It makes the calls in order, as the wallet, and
/// answers what each one used, what failed and with which data, and how the wallet's balances changed. It never
/// reverts because a call did: the answer says so instead. It is never deployed.
contract Runner {
    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    struct Step {
        bool success;
        uint256 gasUsed;
        bytes returned;
    }

    /// @notice A transfer tried and undone before the calls, to see whether the token moves what it is told to.
    /// None is tried where `token` is zero.
    struct Probe {
        address token;
        address to;
        uint256 amount;
    }

    struct Outcome {
        uint256 blockNumber;
        uint256 timestamp;
        /// @dev The probe's transfer succeeded; what left the wallet and what arrived.
        bool probed;
        uint256 probeSent;
        uint256 probeReceived;
        /// @dev Balances of the wallet, one for each token asked for.
        uint256[] balancesBefore;
        uint256[] balancesAfter;
        /// @dev One for each call made; a failed call is the last one.
        Step[] steps;
    }

    /// @dev Carries what was seen out of the frame it undoes.
    error Seen(uint256[] balances, bool probed, uint256 sent, uint256 received);

    /// @dev Stands for the chain's native token among `tokens`.
    address private constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    uint256 private constant ANSWER_BYTES_MAX = 4096;
    uint256 private constant SELECTOR_BYTES = 4;

    receive() external payable {}

    /// @dev A wallet without code accepts any call.
    fallback() external payable {}

    /// @notice Makes `calls` in order as the wallet, stopping at the first that fails.
    function run(Call[] calldata calls, address[] calldata tokens, Probe calldata probe)
        external
        returns (Outcome memory outcome)
    {
        outcome.blockNumber = block.number;
        outcome.timestamp = block.timestamp;
        (, bytes memory returned) = _call(address(this), 0, abi.encodeCall(this.look, (tokens, probe)));
        assembly ("memory-safe") {
            mstore(add(returned, SELECTOR_BYTES), sub(mload(returned), SELECTOR_BYTES))
            returned := add(returned, SELECTOR_BYTES)
        }
        (outcome.balancesBefore, outcome.probed, outcome.probeSent, outcome.probeReceived) =
            abi.decode(returned, (uint256[], bool, uint256, uint256));
        outcome.steps = _run(calls);
        outcome.balancesAfter = _balances(tokens);
    }

    /// @notice Reads the balances, tries the probe, and always reverts with {Seen}: so nothing of it stays, and the
    /// calls that follow pay for cold storage as they would on their own.
    function look(address[] calldata tokens, Probe calldata probe) external {
        uint256[] memory balances = _balances(tokens);
        (bool probed, uint256 sent, uint256 received) =
            probe.token == address(0) ? (false, 0, 0) : _probe(probe.token, probe.to, probe.amount);
        revert Seen(balances, probed, sent, received);
    }

    function _probe(address token, address to, uint256 amount)
        private
        returns (bool success, uint256 sent, uint256 received)
    {
        uint256 held = _balance(token, address(this));
        uint256 heldThere = _balance(token, to);
        bytes memory returned;
        (success, returned) = _call(token, 0, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        if (returned.length >= 32 && abi.decode(returned, (uint256)) == 0) success = false;
        uint256 left = _balance(token, address(this));
        uint256 there = _balance(token, to);
        sent = held > left ? held - left : 0;
        received = there > heldThere ? there - heldThere : 0;
    }

    function _run(Call[] calldata calls) private returns (Step[] memory steps) {
        steps = new Step[](calls.length);
        uint256 made = 0;
        while (made < calls.length) {
            Call calldata one = calls[made];
            uint256 gasBefore = gasleft();
            (bool success, bytes memory returned) = _call(one.target, one.value, one.data);
            steps[made++] = Step(success, gasBefore - gasleft(), returned);
            if (!success) break;
        }
        assembly ("memory-safe") {
            mstore(steps, made)
        }
    }

    function _balances(address[] calldata tokens) private view returns (uint256[] memory balances) {
        balances = new uint256[](tokens.length);
        for (uint256 i = 0; i < tokens.length; i++) {
            balances[i] = _balance(tokens[i], address(this));
        }
    }

    /// @dev 0 where the token does not answer.
    function _balance(address token, address holder) private view returns (uint256 held) {
        if (token == NATIVE) return holder.balance;
        bytes memory data = abi.encodeWithSignature("balanceOf(address)", holder);
        assembly ("memory-safe") {
            mstore(0, 0)
            let success := staticcall(gas(), token, add(data, 0x20), mload(data), 0, 0x20)
            if and(success, gt(returndatasize(), 0x1f)) { held := mload(0) }
        }
    }

    function _call(address target, uint256 value, bytes memory data)
        private
        returns (bool success, bytes memory returned)
    {
        uint256 size;
        assembly ("memory-safe") {
            success := call(gas(), target, value, add(data, 0x20), mload(data), 0, 0)
            size := returndatasize()
        }
        if (size > ANSWER_BYTES_MAX) size = ANSWER_BYTES_MAX;
        returned = new bytes(size);
        assembly ("memory-safe") {
            returndatacopy(add(returned, 0x20), 0, size)
        }
    }
}
