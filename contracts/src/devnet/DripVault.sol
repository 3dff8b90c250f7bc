// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {AccruingVault} from "./AccruingVault.sol";

/// @title A vault whose first interaction of a second costs far more than the next, for tests
/// @notice Where time has passed it keeps books: a number of storage slots that were empty before. A redemption can be
/// made impossible, as in a vault one leaves by another function after a wait.
contract DripVault is AccruingVault {
    uint256 private immutable _pages;
    bool private _waits;
    mapping(uint256 timestamp => mapping(uint256 page => uint256 assets)) private _book;

    /// @notice Redemptions wait; this function gives nothing.
    error WaitsForCooldown();

    event WaitsSet(bool waits);

    /// @param pages_ slots written when time has passed.
    constructor(IERC20 asset_, uint8 decimalsOffset_, uint256 ratePerSecondWad_, uint256 pages_)
        AccruingVault(asset_, decimalsOffset_, ratePerSecondWad_)
    {
        _pages = pages_;
    }

    /// @notice Whether redemptions revert.
    function setWaits(bool waits) external {
        _waits = waits;
        emit WaitsSet(waits);
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        if (_waits) revert WaitsForCooldown();
        super._withdraw(caller, receiver, owner, assets, shares);
    }

    function _afterAccrual() internal override {
        for (uint256 page = 0; page < _pages; page++) {
            _book[block.timestamp][page] = totalAssets() + 1;
        }
    }
}
