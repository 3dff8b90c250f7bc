// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IStaked, IStaticAToken, IWrappedStaked} from "./IWrappers.sol";

/// @title Deposits into vaults and wrappers, and ways out of wrappers, that give a least amount, or nothing happens
/// @notice ERC-4626, wstETH and static aTokens have no least amount in their calls. Here the caller names one.
/// @dev Without an owner, a setting or storage. It holds nothing between calls and leaves no approval behind. What it
/// takes is the caller's own; the vault is the caller's choice, so a bad one can hurt nobody but its caller. What the
/// vault says of itself is not believed: what was taken and given is measured by balances.
contract DepositRouter is ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice What is given would go to nobody, or stay here.
    error InvalidReceiver(address receiver);
    /// @notice A minimum of 0 protects nothing.
    error ZeroMinimum();
    /// @notice The token takes a fee, or moves another amount than it was told.
    error AmountNotReceived(uint256 asked, uint256 received);
    /// @notice The vault took another amount than it was given.
    error AmountNotTaken(uint256 given, uint256 left);
    /// @notice The vault gave fewer shares than the caller takes.
    error SharesBelowMinimum(uint256 minimum, uint256 shares);
    /// @notice The vault paid less than the caller takes.
    error AssetsBelowMinimum(uint256 minimum, uint256 assets);

    /// @notice Deposits exactly `assets` of the caller into `vault`; at least `minimumShares` go to `receiver`.
    /// @return shares what the receiver has more of.
    function depositWithMinimum(IERC4626 vault, uint256 assets, address receiver, uint256 minimumShares)
        external
        nonReentrant
        returns (uint256 shares)
    {
        _checkTerms(receiver, minimumShares);
        IERC20 asset = IERC20(vault.asset());
        uint256 owned = vault.balanceOf(receiver);
        uint256 held = _take(asset, assets, address(vault));
        uint256 received = Math.saturatingSub(asset.balanceOf(address(this)), held);
        if (received != assets) revert AmountNotReceived(assets, received);
        vault.deposit(assets, receiver);
        _checkTaken(asset, assets, address(vault), held);
        return _checkShares(vault, receiver, owned, minimumShares);
    }

    /// @notice Redeems `shares` of the caller, by an approval, for `asset`; at least `minimumAssets` go to `receiver`.
    /// @dev The caller names the asset: one that the vault names itself could be worth nothing.
    /// @return assets what the receiver has more of.
    function redeemWithMinimum(IERC4626 vault, IERC20 asset, uint256 shares, address receiver, uint256 minimumAssets)
        external
        nonReentrant
        returns (uint256 assets)
    {
        _checkTerms(receiver, minimumAssets);
        uint256 owned = asset.balanceOf(receiver);
        vault.redeem(shares, receiver, msg.sender);
        return _checkAssets(asset, receiver, owned, minimumAssets);
    }

    /// @notice Wraps `amount` of the caller's staked token; at least `minimumShares` of what wraps it go to `receiver`.
    /// @return shares what the receiver has more of.
    function wrapWithMinimum(
        IWrappedStaked wrapper,
        IStaked token,
        uint256 amount,
        address receiver,
        uint256 minimumShares
    ) external nonReentrant returns (uint256 shares) {
        _checkTerms(receiver, minimumShares);
        uint256 owned = wrapper.balanceOf(receiver);
        uint256 kept = wrapper.balanceOf(address(this));
        uint256 held = _take(token, amount, address(wrapper));
        wrapper.wrap(amount);
        _checkTaken(token, amount, address(wrapper), held);
        IERC20(wrapper).safeTransfer(receiver, Math.saturatingSub(wrapper.balanceOf(address(this)), kept));
        return _checkShares(wrapper, receiver, owned, minimumShares);
    }

    /// @notice Unwraps `amount` of the caller; at least `minimumAssets` of the staked token go to `receiver`.
    /// @return assets what the receiver has more of.
    function unwrapWithMinimum(
        IWrappedStaked wrapper,
        IStaked token,
        uint256 amount,
        address receiver,
        uint256 minimumAssets
    ) external nonReentrant returns (uint256 assets) {
        _checkTerms(receiver, minimumAssets);
        uint256 owned = token.balanceOf(receiver);
        uint256 kept = token.sharesOf(address(this));
        uint256 held = wrapper.balanceOf(address(this));
        IERC20(wrapper).safeTransferFrom(msg.sender, address(this), amount);
        wrapper.unwrap(amount);
        uint256 holds = wrapper.balanceOf(address(this));
        if (holds != held) revert AmountNotTaken(amount, Math.saturatingSub(holds, held));
        // By shares: a transfer of the rounded balance would leave one behind.
        token.transferShares(receiver, Math.saturatingSub(token.sharesOf(address(this)), kept));
        return _checkAssets(token, receiver, owned, minimumAssets);
    }

    /// @notice Wraps `amount` of the caller's aToken; at least `minimumShares` of the static one go to `receiver`.
    /// @return shares what the receiver has more of.
    function depositATokensWithMinimum(
        IStaticAToken wrapper,
        IERC20 aToken,
        uint256 amount,
        address receiver,
        uint256 minimumShares
    ) external nonReentrant returns (uint256 shares) {
        _checkTerms(receiver, minimumShares);
        uint256 owned = wrapper.balanceOf(receiver);
        uint256 held = _take(aToken, amount, address(wrapper));
        wrapper.depositATokens(amount, receiver);
        _checkTaken(aToken, amount, address(wrapper), held);
        return _checkShares(wrapper, receiver, owned, minimumShares);
    }

    /// @notice Redeems `shares` of the caller, by an approval, for the aToken; at least `minimumAssets` go to `receiver`.
    /// @return assets what the receiver has more of.
    function redeemATokensWithMinimum(
        IStaticAToken wrapper,
        IERC20 aToken,
        uint256 shares,
        address receiver,
        uint256 minimumAssets
    ) external nonReentrant returns (uint256 assets) {
        _checkTerms(receiver, minimumAssets);
        uint256 owned = aToken.balanceOf(receiver);
        wrapper.redeemATokens(shares, receiver, msg.sender);
        return _checkAssets(aToken, receiver, owned, minimumAssets);
    }

    function _checkTerms(address receiver, uint256 minimum) private view {
        if (receiver == address(0) || receiver == address(this)) revert InvalidReceiver(receiver);
        if (minimum == 0) revert ZeroMinimum();
    }

    /// @dev What was held before. A balance that is shares times a rate may show a unit less than was moved: the amount
    /// that came is moved on as it was named, which moves the same shares and leaves none.
    function _take(IERC20 token, uint256 amount, address spender) private returns (uint256 held) {
        held = token.balanceOf(address(this));
        token.safeTransferFrom(msg.sender, address(this), amount);
        token.forceApprove(spender, amount);
    }

    function _checkTaken(IERC20 token, uint256 amount, address spender, uint256 held) private {
        uint256 holds = token.balanceOf(address(this));
        if (holds != held) revert AmountNotTaken(amount, Math.saturatingSub(holds, held));
        // A token may count an allowance down in its own way; some refuse to set one that is 0 to 0.
        if (token.allowance(address(this), spender) != 0) token.forceApprove(spender, 0);
    }

    function _checkShares(IERC20 share, address receiver, uint256 owned, uint256 minimum)
        private
        view
        returns (uint256 shares)
    {
        shares = Math.saturatingSub(share.balanceOf(receiver), owned);
        if (shares < minimum) revert SharesBelowMinimum(minimum, shares);
    }

    function _checkAssets(IERC20 asset, address receiver, uint256 owned, uint256 minimum)
        private
        view
        returns (uint256 assets)
    {
        assets = Math.saturatingSub(asset.balanceOf(receiver), owned);
        if (assets < minimum) revert AssetsBelowMinimum(minimum, assets);
    }
}
