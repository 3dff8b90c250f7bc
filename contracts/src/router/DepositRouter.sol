// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/// @title Deposits into vaults of ERC-4626 that give a least number of shares, or nothing happens
/// @notice ERC-4626 has no least number of shares in its `deposit`. Here the caller names one.
/// @dev Without an owner, a setting or storage. It holds nothing between calls and leaves no approval behind. What it
/// takes is the caller's own; the vault is the caller's choice, so a bad one can hurt nobody but its caller. What the
/// vault says of itself is not believed: what was taken and given is measured by balances.
contract DepositRouter is ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice The shares would go to nobody, or stay here.
    error InvalidReceiver(address receiver);
    /// @notice A minimum of 0 protects nothing.
    error ZeroMinimum();
    /// @notice The token takes a fee, or moves another amount than it was told.
    error AmountNotReceived(uint256 asked, uint256 received);
    /// @notice The vault took another amount than it was given.
    error AmountNotTaken(uint256 given, uint256 left);
    /// @notice The vault gave fewer shares than the caller takes.
    error SharesBelowMinimum(uint256 minimum, uint256 shares);

    /// @notice Deposits exactly `assets` of the caller into `vault`; at least `minimumShares` go to `receiver`.
    /// @return shares what the receiver has more of.
    function depositWithMinimum(IERC4626 vault, uint256 assets, address receiver, uint256 minimumShares)
        external
        nonReentrant
        returns (uint256 shares)
    {
        if (receiver == address(0) || receiver == address(this)) revert InvalidReceiver(receiver);
        if (minimumShares == 0) revert ZeroMinimum();
        IERC20 asset = IERC20(vault.asset());
        uint256 held = asset.balanceOf(address(this));
        uint256 owned = vault.balanceOf(receiver);
        asset.safeTransferFrom(msg.sender, address(this), assets);
        uint256 received = Math.saturatingSub(asset.balanceOf(address(this)), held);
        if (received != assets) revert AmountNotReceived(assets, received);
        asset.forceApprove(address(vault), assets);
        vault.deposit(assets, receiver);
        uint256 holds = asset.balanceOf(address(this));
        if (holds != held) revert AmountNotTaken(assets, Math.saturatingSub(holds, held));
        // A token may count an allowance down in its own way; some refuse to set one that is 0 to 0.
        if (asset.allowance(address(this), address(vault)) != 0) asset.forceApprove(address(vault), 0);
        shares = Math.saturatingSub(vault.balanceOf(receiver), owned);
        if (shares < minimumShares) revert SharesBelowMinimum(minimumShares, shares);
    }
}
