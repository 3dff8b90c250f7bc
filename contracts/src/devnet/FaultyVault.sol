// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title A vault with one fault, chosen when it is deployed, for tests of what is found before anybody's money goes in
contract FaultyVault is ERC4626 {
    using SafeERC20 for IERC20;

    enum Fault {
        None,
        // What it is cannot be told.
        AssetReverts,
        AssetIsNobody,
        AssetIsAWallet,
        AssetAnswersShort,
        TotalAssetsReverts,
        DecimalsRevert,
        DecimalsHuge,
        ShareIsAWallet,
        // It takes money and gives nothing, or too little, back.
        GivesNoShares,
        SharesToSomebodyElse,
        RedeemRevertsWithText,
        RedeemRevertsBare,
        RedeemPanics,
        RedeemBurnsAllGas,
        RedeemPaysNothing,
        RedeemDoesNothing,
        RedeemPaysSomebodyElse,
        RedeemPaysDust,
        RedeemPaysAThird,
        RedeemForTheOwnerAlone,
        RedeemWaits,
        // It says to be of a kind whose functions it lacks, or whose functions do nothing.
        SaysAsyncBoth,
        SaysAsyncRedeem,
        RequestTakesNothing,
        SaysCooldown,
        CooldownTakesNothing,
        SaysLagoon,
        // It is closed, or says odd things of itself.
        DepositReverts,
        Paused,
        CapZero,
        TakesAFee,
        PreviewsRevert,
        MaximaRevert,
        PricesRevert,
        InterfacesBurnAllGas
    }

    Fault private immutable _fault;
    address private immutable _maker = msg.sender;

    error Refused();

    constructor(IERC20 asset_, Fault fault_) ERC20("Faulty vault", "FLT") ERC4626(asset_) {
        _fault = fault_;
    }

    function asset() public view override returns (address) {
        if (_fault == Fault.AssetReverts) revert Refused();
        if (_fault == Fault.AssetIsNobody) return address(0);
        if (_fault == Fault.AssetIsAWallet) return address(0xA11CE);
        if (_fault == Fault.AssetAnswersShort) {
            assembly ("memory-safe") {
                return(0, 4)
            }
        }
        return super.asset();
    }

    function totalAssets() public view override returns (uint256) {
        if (_fault == Fault.TotalAssetsReverts) revert Refused();
        return IERC20(super.asset()).balanceOf(address(this));
    }

    function decimals() public view override returns (uint8) {
        if (_fault == Fault.DecimalsRevert) revert Refused();
        return _fault == Fault.DecimalsHuge ? 77 : super.decimals();
    }

    function share() external view returns (address) {
        return _fault == Fault.ShareIsAWallet ? address(0xA11CE) : address(this);
    }

    function paused() external view returns (bool) {
        return _fault == Fault.Paused;
    }

    /// @dev ERC-165 of ERC-7540.
    function supportsInterface(bytes4 id) external view returns (bool) {
        if (_fault == Fault.InterfacesBurnAllGas) _burnAllGas();
        bool redeems = id == 0x620ee8e4;
        if (_fault == Fault.SaysAsyncRedeem || _fault == Fault.RequestTakesNothing) return redeems;
        return (_fault == Fault.SaysAsyncBoth || _fault == Fault.SaysLagoon) && (redeems || id == 0xce3bbe50);
    }

    function requestRedeem(uint256, address, address) external view returns (uint256) {
        if (_fault != Fault.RequestTakesNothing) revert Refused();
        return 0;
    }

    function isTotalAssetsValid() external view returns (bool) {
        if (_fault != Fault.SaysLagoon) revert Refused();
        return false;
    }

    function safe() external view returns (address) {
        if (_fault != Fault.SaysLagoon) revert Refused();
        return _maker;
    }

    function cooldownDuration() external view returns (uint24) {
        if (_fault != Fault.SaysCooldown && _fault != Fault.CooldownTakesNothing) revert Refused();
        return 7 days;
    }

    function cooldowns(address) external view returns (uint104, uint152) {
        if (_fault != Fault.SaysCooldown && _fault != Fault.CooldownTakesNothing) revert Refused();
        return (0, 0);
    }

    function cooldownShares(uint256 shares) external view returns (uint256) {
        if (_fault != Fault.CooldownTakesNothing) revert Refused();
        return shares;
    }

    function maxDeposit(address receiver) public view override returns (uint256) {
        if (_fault == Fault.MaximaRevert) revert Refused();
        return _fault == Fault.CapZero ? 0 : super.maxDeposit(receiver);
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        if (_fault == Fault.MaximaRevert) return balanceOf(owner);
        return super.maxRedeem(owner);
    }

    function previewDeposit(uint256 assets) public view override returns (uint256) {
        if (_fault == Fault.PreviewsRevert) revert Refused();
        return super.previewDeposit(assets);
    }

    function convertToAssets(uint256 shares) public view override returns (uint256) {
        if (_fault == Fault.PricesRevert) revert Refused();
        return super.convertToAssets(shares);
    }

    function deposit(uint256 assets, address receiver) public override returns (uint256 shares) {
        if (_fault == Fault.DepositReverts || _fault == Fault.Paused || _fault == Fault.CapZero) revert Refused();
        shares = _convertToShares(assets, Math.Rounding.Floor);
        IERC20(super.asset()).safeTransferFrom(msg.sender, address(this), assets);
        if (_fault == Fault.SharesToSomebodyElse) receiver = _maker;
        if (_fault != Fault.GivesNoShares) _mint(receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address owner) public override returns (uint256 assets) {
        if (_fault == Fault.RedeemRevertsWithText) revert("not today");
        if (_fault == Fault.RedeemRevertsBare || _fault == Fault.GivesNoShares) _revertBare();
        if (_fault == Fault.RedeemPanics) assert(false);
        if (_fault == Fault.RedeemBurnsAllGas) _burnAllGas();
        if (_fault == Fault.RedeemForTheOwnerAlone && msg.sender != _maker) revert Refused();
        if (_fault == Fault.RedeemWaits && block.timestamp < type(uint64).max) revert Refused();
        assets = _convertToAssets(shares, Math.Rounding.Floor);
        if (_fault == Fault.RedeemDoesNothing) return assets;
        _burn(owner, shares);
        uint256 paid = assets;
        if (_fault == Fault.RedeemPaysNothing) paid = 0;
        if (_fault == Fault.RedeemPaysDust) paid = 1;
        if (_fault == Fault.RedeemPaysAThird) paid = assets / 3;
        if (_fault == Fault.TakesAFee) paid = assets - assets / 100;
        if (_fault == Fault.RedeemPaysSomebodyElse) receiver = _maker;
        IERC20(super.asset()).safeTransfer(receiver, paid);
        emit Withdraw(msg.sender, receiver, owner, assets, shares);
    }

    function _revertBare() private pure {
        assembly ("memory-safe") {
            revert(0, 0)
        }
    }

    function _burnAllGas() private pure {
        assembly ("memory-safe") {
            invalid()
        }
    }
}
