// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @notice What wraps a staked token of growing balances, as wstETH does. It has no minimum of its own.
interface IWrappedStaked is IERC20 {
    function wrap(uint256 amount) external returns (uint256);

    function unwrap(uint256 amount) external returns (uint256);
}

/// @notice A staked token whose balances are shares times a rate, as those of stETH are. A balance is rounded, the shares
/// are not.
interface IStaked is IERC20 {
    function sharesOf(address account) external view returns (uint256);

    function transferShares(address to, uint256 shares) external returns (uint256);
}

/// @notice What wraps an aToken of Aave, beside what it does for the token below, as StataTokenV2 does.
interface IStaticAToken is IERC20 {
    function depositATokens(uint256 assets, address receiver) external returns (uint256);

    function redeemATokens(uint256 shares, address receiver, address owner) external returns (uint256);
}
