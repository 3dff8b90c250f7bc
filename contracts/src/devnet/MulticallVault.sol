// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {Multicall} from "@openzeppelin/contracts/utils/Multicall.sol";

/// @title A vault of ERC-4626 that takes several calls in one transaction, for development chains and tests
/// @notice `multicall(bytes[])` runs each call as the caller's own.
contract MulticallVault is ERC4626, Multicall {
    constructor(IERC20 asset_) ERC20("Multicall", "MULTI") ERC4626(asset_) {}
}
