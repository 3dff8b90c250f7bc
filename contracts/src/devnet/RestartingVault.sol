// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title An ERC-4626 vault without virtual shares, for tests: where nobody holds it, it begins again at one to one
/// @notice Whatever is sent to the vault beside deposits is yield. An entry fee leaves the vault.
contract RestartingVault is ERC4626 {
    using SafeERC20 for IERC20;

    uint256 private constant BPS = 10_000;

    uint256 private immutable _entryFeeBps;
    address private immutable _feeReceiver;

    /// @param entryFeeBps_ the part of a deposit that goes to `feeReceiver_`, in hundredths of a percent.
    constructor(IERC20 asset_, uint256 entryFeeBps_, address feeReceiver_)
        ERC20("Restarting vault", "rTUSD")
        ERC4626(asset_)
    {
        _entryFeeBps = entryFeeBps_;
        _feeReceiver = feeReceiver_;
    }

    function previewDeposit(uint256 assets) public view override returns (uint256) {
        return super.previewDeposit(assets - _fee(assets));
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        super._deposit(caller, receiver, assets, shares);
        if (_entryFeeBps > 0) IERC20(asset()).safeTransfer(_feeReceiver, _fee(assets));
    }

    function _convertToShares(uint256 assets, Math.Rounding rounding) internal view override returns (uint256) {
        uint256 supply = totalSupply();
        return supply == 0 ? assets : Math.mulDiv(assets, supply, totalAssets(), rounding);
    }

    function _convertToAssets(uint256 shares, Math.Rounding rounding) internal view override returns (uint256) {
        uint256 supply = totalSupply();
        return supply == 0 ? shares : Math.mulDiv(shares, totalAssets(), supply, rounding);
    }

    function _fee(uint256 assets) private view returns (uint256) {
        return Math.mulDiv(assets, _entryFeeBps, BPS, Math.Rounding.Ceil);
    }
}
