// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title A vault whose `asset()` names another token than the one it takes, for tests of refusal
contract LyingAssetVault is ERC4626, Ownable {
    using SafeERC20 for IERC20;

    IERC20 private immutable _trueAsset;
    address private _claimedAsset;

    event AssetClaimed(address indexed asset);

    constructor(IERC20 trueAsset_, address claimedAsset_)
        ERC20("Lying vault", "LIE")
        ERC4626(trueAsset_)
        Ownable(msg.sender)
    {
        _trueAsset = trueAsset_;
        _claimedAsset = claimedAsset_;
    }

    /// @notice Changes what `asset()` answers.
    function claimAsset(address claimedAsset_) external onlyOwner {
        _claimedAsset = claimedAsset_;
        emit AssetClaimed(claimedAsset_);
    }

    /// @notice The token that is really moved.
    function trueAsset() external view returns (address) {
        return address(_trueAsset);
    }

    function asset() public view override returns (address) {
        return _claimedAsset;
    }

    function totalAssets() public view override returns (uint256) {
        return _trueAsset.balanceOf(address(this));
    }

    function _transferIn(address from, uint256 assets) internal override {
        _trueAsset.safeTransferFrom(from, address(this), assets);
    }

    function _transferOut(address to, uint256 assets) internal override {
        _trueAsset.safeTransfer(to, assets);
    }
}
