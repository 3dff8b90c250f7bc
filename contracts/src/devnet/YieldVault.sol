// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {TestToken} from "./TestToken.sol";

/// @title An ERC-4626 vault that earns as time passes, for development chains and tests
/// @notice Assets grow at a yearly rate, simple between two interactions. What has grown is paid in at the next
/// deposit or withdrawal: minted where the vault is a minter of a {TestToken}, else taken from a reserve that was
/// funded before. So every share can always be redeemed for what `totalAssets` promised.
contract YieldVault is ERC4626, Ownable {
    using SafeERC20 for IERC20;

    uint256 private constant YEAR = 31_536_000;
    uint256 private constant WAD = 1e18;

    uint8 private immutable _offset;
    bool private immutable _mintsYield;
    uint256 private _annualRateWad;
    uint256 private _accruedAt;
    uint256 private _reserve;
    uint256 private _depositCap = type(uint256).max;
    bool private _depositsPaused;
    bool private _withdrawalsPaused;

    /// @notice This vault mints its yield: a reserve would never be paid out.
    error MintsItsYield();
    /// @notice A loss can be at most what the vault holds for its shares.
    error LossExceedsAssets(uint256 assets, uint256 held);

    /// @notice Yield of `assets` was paid into the vault.
    event YieldAccrued(uint256 assets);
    event AnnualRateSet(uint256 annualRateWad);
    event ReserveFunded(address indexed from, uint256 assets);
    event DepositCapSet(uint256 assets);
    event DepositsPausedSet(bool paused);
    event WithdrawalsPausedSet(bool paused);
    event LossTaken(address indexed to, uint256 assets);

    /// @param asset_ the token deposited.
    /// @param decimalsOffset_ share decimals = asset decimals + this; it also makes inflation attacks costly.
    /// @param annualRateWad_ growth a year, 1e18 = 100 %.
    /// @param mintsYield_ true: `asset_` is a {TestToken} on which this vault will be a minter; false: yield comes
    /// from {fundReserve} and stops when the reserve is empty.
    constructor(
        IERC20 asset_,
        string memory name_,
        string memory symbol_,
        uint8 decimalsOffset_,
        uint256 annualRateWad_,
        bool mintsYield_
    ) ERC20(name_, symbol_) ERC4626(asset_) Ownable(msg.sender) {
        _offset = decimalsOffset_;
        _mintsYield = mintsYield_;
        _annualRateWad = annualRateWad_;
        _accruedAt = block.timestamp;
    }

    /// @notice Pays in what has grown since the last interaction.
    function accrue() external {
        _accrue();
    }

    /// @notice Changes the yearly growth from now on.
    function setAnnualRate(uint256 annualRateWad_) external onlyOwner {
        _accrue();
        _annualRateWad = annualRateWad_;
        emit AnnualRateSet(annualRateWad_);
    }

    /// @notice Adds `assets` of the caller to the reserve that pays yield; not part of `totalAssets` until earned.
    function fundReserve(uint256 assets) external {
        if (_mintsYield) revert MintsItsYield();
        _accrue();
        _reserve += assets;
        emit ReserveFunded(msg.sender, assets);
        IERC20(asset()).safeTransferFrom(msg.sender, address(this), assets);
    }

    /// @notice Takes a loss: `assets` leave to `to` and the share price falls.
    function takeLoss(address to, uint256 assets) external onlyOwner {
        _accrue();
        if (assets > _principal()) revert LossExceedsAssets(assets, _principal());
        emit LossTaken(to, assets);
        IERC20(asset()).safeTransfer(to, assets);
    }

    /// @notice Most assets the vault takes in all; `maxDeposit` is what is left of it.
    function setDepositCap(uint256 assets) external onlyOwner {
        _depositCap = assets;
        emit DepositCapSet(assets);
    }

    /// @notice While paused `maxDeposit` and `maxMint` are 0.
    function setDepositsPaused(bool paused) external onlyOwner {
        _depositsPaused = paused;
        emit DepositsPausedSet(paused);
    }

    /// @notice While paused `maxWithdraw` and `maxRedeem` are 0.
    function setWithdrawalsPaused(bool paused) external onlyOwner {
        _withdrawalsPaused = paused;
        emit WithdrawalsPausedSet(paused);
    }

    /// @notice Growth a year, 1e18 = 100 %.
    function annualRate() external view returns (uint256) {
        return _annualRateWad;
    }

    /// @notice What is left to pay yield with; 0 for a vault that mints it.
    function reserve() external view returns (uint256) {
        return _mintsYield ? 0 : _reserve - pendingYield();
    }

    /// @notice Most assets the vault takes in all.
    function depositCap() external view returns (uint256) {
        return _depositCap;
    }

    /// @notice What has grown since the last interaction and is not paid in yet.
    function pendingYield() public view returns (uint256) {
        uint256 elapsed = block.timestamp - _accruedAt;
        uint256 grown = Math.mulDiv(_principal(), _annualRateWad * elapsed, YEAR * WAD);
        return _mintsYield ? grown : Math.min(grown, _reserve);
    }

    function totalAssets() public view override returns (uint256) {
        return _principal() + pendingYield();
    }

    function maxDeposit(address) public view override returns (uint256) {
        if (_depositsPaused) return 0;
        if (_depositCap == type(uint256).max) return _depositCap;
        return Math.saturatingSub(_depositCap, totalAssets());
    }

    function maxMint(address receiver) public view override returns (uint256) {
        uint256 assets = maxDeposit(receiver);
        return assets == type(uint256).max ? assets : _convertToShares(assets, Math.Rounding.Floor);
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        return _withdrawalsPaused ? 0 : super.maxRedeem(owner);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        _accrue();
        super._deposit(caller, receiver, assets, shares);
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        _accrue();
        super._withdraw(caller, receiver, owner, assets, shares);
    }

    function _decimalsOffset() internal view override returns (uint8) {
        return _offset;
    }

    /// @dev What the vault holds for its shares: its balance without the reserve.
    function _principal() private view returns (uint256) {
        return IERC20(asset()).balanceOf(address(this)) - _reserve;
    }

    function _accrue() private {
        uint256 grown = pendingYield();
        _accruedAt = block.timestamp;
        if (grown == 0) return;
        emit YieldAccrued(grown);
        if (_mintsYield) TestToken(asset()).mint(address(this), grown);
        else _reserve -= grown;
    }
}
