// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

/// @title What vaults would do for a wallet that nobody knows, found without sending anything
/// @notice Its code is put at the wallet's address for one `eth_call`, and so are tokens to deposit and shares to redeem.
/// It deposits into each vault and redeems at once what it was given, then redeems shares it simply has; every try is
/// undone. It never reverts because a vault does. It is never deployed.
contract Prober {
    struct Ask {
        /// @dev Who takes the token, and which; nothing is deposited where `asset` is zero.
        address spender;
        address asset;
        uint256 amount;
        /// @dev The contract that takes the deposit: the vault, or one beside it.
        address depositsAt;
        bytes deposit;
        address share;
        /// @dev A call that redeems, and where to; the number of shares is written at `sharesAt`.
        address redeemsAt;
        bytes redeem;
        uint256 sharesAt;
        /// @dev What the redemption pays at once; zero where it pays nothing yet.
        address pays;
        /// @dev Shares to redeem without a deposit; 0: not tried.
        uint256 shares;
    }

    struct Try {
        /// @dev It was tried, and there was gas enough.
        bool made;
        bool success;
        /// @dev What the wallet has more of: shares, or of a redemption what it pays.
        uint256 given;
        /// @dev What the wallet has less of: the token, or of a redemption shares.
        uint256 taken;
        bytes returned;
    }

    struct Found {
        Try deposit;
        /// @dev Of what the deposit gave.
        Try redeemOfDeposit;
        /// @dev Of shares the wallet simply has.
        Try redeemOfShares;
    }

    /// @dev Carries what was seen out of the frame it undoes.
    error Seen(Try deposit, Try redeem);

    uint256 private constant ANSWER_BYTES_MAX = 256;
    uint256 private constant SELECTOR_BYTES = 4;
    /// @dev What one try may use; a try with less left is not made, and nothing is said about it.
    uint256 private constant TRY_GAS = 5_000_000;
    uint256 private constant SPARE_GAS = 400_000;

    receive() external payable {}

    /// @dev A wallet without code accepts any call.
    fallback() external payable {}

    /// @notice Tries every vault, one after the other, each as if it were the only one.
    function probe(Ask[] calldata asks) external returns (Found[] memory found) {
        found = new Found[](asks.length);
        for (uint256 i = 0; i < asks.length; i++) {
            Ask calldata ask = asks[i];
            if (ask.asset != address(0)) (found[i].deposit, found[i].redeemOfDeposit) = _look(ask, true);
            if (ask.shares > 0) (, found[i].redeemOfShares) = _look(ask, false);
        }
    }

    /// @notice What the wallet has of each token; 0 where one does not answer.
    function balances(address[] calldata tokens) external view returns (uint256[] memory held) {
        held = new uint256[](tokens.length);
        for (uint256 i = 0; i < tokens.length; i++) {
            held[i] = _balance(tokens[i]);
        }
    }

    /// @notice One try, which always reverts with {Seen}, so that nothing of it stays.
    function look(Ask calldata ask, bool deposits) external {
        Try memory deposit;
        Try memory redeem;
        uint256 shares = ask.shares;
        if (deposits) {
            _call(ask.asset, abi.encodeWithSignature("approve(address,uint256)", ask.spender, ask.amount));
            deposit = _trade(ask.depositsAt, ask.deposit, ask.asset, ask.share);
            shares = deposit.given;
        }
        if (shares > 0 && ask.redeem.length >= ask.sharesAt + 32) {
            bytes memory data = ask.redeem;
            uint256 offset = ask.sharesAt;
            assembly ("memory-safe") {
                mstore(add(add(data, 0x20), offset), shares)
            }
            // Some vaults take the shares of a request by allowance.
            _call(ask.share, abi.encodeWithSignature("approve(address,uint256)", ask.redeemsAt, shares));
            redeem = _trade(ask.redeemsAt, data, ask.share, ask.pays);
        }
        revert Seen(deposit, redeem);
    }

    function _look(Ask calldata ask, bool deposits) private returns (Try memory deposit, Try memory redeem) {
        if (gasleft() < TRY_GAS + TRY_GAS / 32 + SPARE_GAS) return (deposit, redeem);
        bytes memory returned;
        (bool success, bytes memory data) = (false, abi.encodeCall(this.look, (ask, deposits)));
        uint256 size;
        assembly ("memory-safe") {
            success := call(TRY_GAS, address(), 0, add(data, 0x20), mload(data), 0, 0)
            size := returndatasize()
        }
        // A vault that burns everything leaves no word; then nothing is known about it.
        if (success || size < SELECTOR_BYTES) return (deposit, redeem);
        returned = new bytes(size);
        assembly ("memory-safe") {
            returndatacopy(add(returned, 0x20), 0, size)
            mstore(add(returned, SELECTOR_BYTES), sub(size, SELECTOR_BYTES))
            returned := add(returned, SELECTOR_BYTES)
        }
        return abi.decode(returned, (Try, Try));
    }

    /// @dev A call, and what the wallet has less and more of after it; nothing where it reverts.
    function _trade(address target, bytes memory data, address takes, address gives) private returns (Try memory tried) {
        (uint256 had, uint256 held) = (_balance(takes), _balance(gives));
        tried = _try(target, data);
        if (!tried.success) return tried;
        (uint256 has, uint256 holds) = (_balance(takes), _balance(gives));
        if (has < had) tried.taken = had - has;
        if (holds > held) tried.given = holds - held;
    }

    /// @dev One that ran out of gas counts as not made.
    function _try(address target, bytes memory data) private returns (Try memory tried) {
        uint256 gasBefore = gasleft();
        (tried.success, tried.returned) = _call(target, data);
        tried.made = tried.success || gasleft() > gasBefore / 32;
    }

    /// @dev 0 where the token does not answer.
    function _balance(address token) private view returns (uint256 held) {
        bytes memory data = abi.encodeWithSignature("balanceOf(address)", address(this));
        assembly ("memory-safe") {
            mstore(0, 0)
            let success := staticcall(gas(), token, add(data, 0x20), mload(data), 0, 0x20)
            if and(success, gt(returndatasize(), 0x1f)) { held := mload(0) }
        }
    }

    function _call(address target, bytes memory data) private returns (bool success, bytes memory returned) {
        uint256 size;
        assembly ("memory-safe") {
            success := call(gas(), target, 0, add(data, 0x20), mload(data), 0, 0)
            size := returndatasize()
        }
        if (size > ANSWER_BYTES_MAX) size = ANSWER_BYTES_MAX;
        returned = new bytes(size);
        assembly ("memory-safe") {
            returndatacopy(add(returned, 0x20), 0, size)
        }
    }
}
