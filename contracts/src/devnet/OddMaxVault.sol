// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {AccruingVault} from "./AccruingVault.sol";

/// @title A vault whose `max*` tell nothing, for tests
/// @notice Every `max*` answers the same bytes, or reverts with them; deposits and redemptions work all the same until
/// they are closed. A word of zeros is what some vaults answer by design.
contract OddMaxVault is AccruingVault {
    bytes private _answer;
    bool private _reverts;
    bool private _closed;
    bool private _silentToStrangers;

    /// @notice Nothing is taken and nothing given at present.
    error Shut();

    event AnswerSet(bytes answer, bool reverts);
    event ClosedSet(bool closed);
    event SilentToStrangersSet(bool silent);

    constructor(IERC20 asset_, uint8 decimalsOffset_, uint256 ratePerSecondWad_)
        AccruingVault(asset_, decimalsOffset_, ratePerSecondWad_)
    {
        _answer = abi.encode(uint256(0));
    }

    /// @notice What every `max*` answers from now on, or reverts with.
    function setAnswer(bytes calldata answer, bool reverts) external {
        _answer = answer;
        _reverts = reverts;
        emit AnswerSet(answer, reverts);
    }

    /// @notice Closes or opens both sides.
    function setClosed(bool closed) external {
        _closed = closed;
        emit ClosedSet(closed);
    }

    /// @notice Whether `previewRedeem` answers 0 to callers without shares.
    function setSilentToStrangers(bool silent) external {
        _silentToStrangers = silent;
        emit SilentToStrangersSet(silent);
    }

    function previewRedeem(uint256 shares) public view override returns (uint256) {
        return _silentToStrangers && balanceOf(msg.sender) == 0 ? 0 : super.previewRedeem(shares);
    }

    function maxDeposit(address) public view override returns (uint256) {
        _say();
    }

    function maxMint(address) public view override returns (uint256) {
        _say();
    }

    function maxWithdraw(address) public view override returns (uint256) {
        _say();
    }

    function maxRedeem(address) public view override returns (uint256) {
        _say();
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        if (_closed) revert Shut();
        super._deposit(caller, receiver, assets, shares);
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        if (_closed) revert Shut();
        super._withdraw(caller, receiver, owner, assets, shares);
    }

    /// @dev Ends the call.
    function _say() private view {
        bytes memory answer = _answer;
        bool reverts = _reverts;
        assembly ("memory-safe") {
            if reverts { revert(add(answer, 0x20), mload(answer)) }
            return(add(answer, 0x20), mload(answer))
        }
    }
}
