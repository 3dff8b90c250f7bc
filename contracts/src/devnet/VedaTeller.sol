// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {VedaAccountant, VedaVault} from "./VedaVault.sol";

/// @title What the tellers of Veda's vaults have in common, for tests
/// @notice A deposit mints shares at the accountant's price, less a premium, and locks all shares of the depositor for a time,
/// in which its deposit may be given back. Only solvers take assets out at once.
abstract contract VedaTellerBase {
    struct Asset {
        bool allowDeposits;
        bool allowWithdraws;
        uint16 sharePremium;
    }

    address public immutable owner = msg.sender;
    VedaVault public immutable vault;
    VedaAccountant public immutable accountant;
    uint256 internal immutable _oneShare;
    mapping(address asset => Asset) public assetData;
    mapping(uint256 nonce => bytes32) public publicDepositHistory;
    mapping(address user => bool) internal _denied;
    mapping(address user => uint256) internal _unlockTime;
    uint96 public depositNonce;
    uint64 public shareLockPeriod;
    bool public isPaused;

    error TellerWithMultiAssetSupport__SharesAreLocked();
    error TellerWithMultiAssetSupport__SharesAreUnLocked();
    error TellerWithMultiAssetSupport__BadDepositHash();
    error TellerWithMultiAssetSupport__AssetNotSupported();
    error TellerWithMultiAssetSupport__ZeroAssets();
    error TellerWithMultiAssetSupport__MinimumMintNotMet();
    error TellerWithMultiAssetSupport__MinimumAssetsNotMet();
    error TellerWithMultiAssetSupport__ZeroShares();
    error TellerWithMultiAssetSupport__Paused();
    error TellerWithMultiAssetSupport__TransferDenied(address from, address to, address operator);

    event DepositRefunded(uint256 indexed nonce, bytes32 depositHash, address indexed user);
    event BulkWithdraw(address indexed asset, uint256 shareAmount);

    modifier onlyOwner() {
        require(msg.sender == owner, "UNAUTHORIZED");
        _;
    }

    constructor(VedaVault vault_, VedaAccountant accountant_) {
        (vault, accountant, _oneShare) = (vault_, accountant_, 10 ** vault_.decimals());
    }

    function updateAssetData(address asset, bool allowDeposits, bool allowWithdraws, uint16 premium) external onlyOwner {
        assetData[asset] = Asset(allowDeposits, allowWithdraws, premium);
    }

    function setShareLockPeriod(uint64 period) external onlyOwner {
        shareLockPeriod = period;
    }

    function setPaused(bool isPaused_) external onlyOwner {
        isPaused = isPaused_;
    }

    function setDenied(address user, bool isDenied) external onlyOwner {
        _denied[user] = isDenied;
    }

    function beforeTransfer(address from, address to, address operator) external view {
        if (_denied[from] || _denied[to] || _denied[operator]) {
            revert TellerWithMultiAssetSupport__TransferDenied(from, to, operator);
        }
        if (_unlockTime[from] > block.timestamp) revert TellerWithMultiAssetSupport__SharesAreLocked();
    }

    function bulkWithdraw(address asset, uint256 shares, uint256 minimumAssets, address to)
        external
        onlyOwner
        returns (uint256 assets)
    {
        if (isPaused) revert TellerWithMultiAssetSupport__Paused();
        if (!assetData[asset].allowWithdraws) revert TellerWithMultiAssetSupport__AssetNotSupported();
        if (shares == 0) revert TellerWithMultiAssetSupport__ZeroShares();
        assets = shares * accountant.getRateInQuoteSafe(asset) / _oneShare;
        if (assets < minimumAssets) revert TellerWithMultiAssetSupport__MinimumAssetsNotMet();
        vault.exit(to, asset, assets, msg.sender, shares);
        emit BulkWithdraw(asset, shares);
    }

    function _enter(address asset, uint256 amount, uint256 minimumMint, address to) internal returns (uint256 shares) {
        if (isPaused) revert TellerWithMultiAssetSupport__Paused();
        Asset memory data = assetData[asset];
        if (!data.allowDeposits) revert TellerWithMultiAssetSupport__AssetNotSupported();
        if (amount == 0) revert TellerWithMultiAssetSupport__ZeroAssets();
        shares = amount * _oneShare / accountant.getRateInQuoteSafe(asset);
        if (data.sharePremium > 0) shares = shares * (10_000 - data.sharePremium) / 10_000;
        if (shares < minimumMint) revert TellerWithMultiAssetSupport__MinimumMintNotMet();
        vault.enter(msg.sender, asset, amount, to, shares);
        _unlockTime[to] = block.timestamp + shareLockPeriod;
    }

    function _giveBack(uint256 nonce, bytes32 hash, address receiver, address asset, uint256 amount, uint256 shares)
        internal
    {
        if (publicDepositHistory[nonce] != hash) revert TellerWithMultiAssetSupport__BadDepositHash();
        delete publicDepositHistory[nonce];
        vault.exit(receiver, asset, amount, receiver, shares);
        emit DepositRefunded(nonce, hash, receiver);
    }

    function _requireLocked(uint256 from, uint256 period) internal view {
        if (block.timestamp - from >= period) revert TellerWithMultiAssetSupport__SharesAreUnLocked();
    }
}

/// @title A teller as published in 2024, for tests
contract VedaTeller is VedaTellerBase {
    event Deposit(
        uint256 indexed nonce,
        address indexed receiver,
        address indexed depositAsset,
        uint256 depositAmount,
        uint256 shareAmount,
        uint256 depositTimestamp,
        uint256 shareLockPeriodAtTimeOfDeposit
    );

    constructor(VedaVault vault_, VedaAccountant accountant_) VedaTellerBase(vault_, accountant_) {}

    function shareUnlockTime(address user) external view returns (uint256) {
        return _unlockTime[user];
    }

    function deposit(address depositAsset, uint256 depositAmount, uint256 minimumMint)
        external
        payable
        returns (uint256 shares)
    {
        shares = _enter(depositAsset, depositAmount, minimumMint, msg.sender);
        uint256 nonce = depositNonce++;
        publicDepositHistory[nonce] =
            keccak256(abi.encode(msg.sender, depositAsset, depositAmount, shares, block.timestamp, shareLockPeriod));
        emit Deposit(nonce, msg.sender, depositAsset, depositAmount, shares, block.timestamp, shareLockPeriod);
    }

    function refundDeposit(
        uint256 nonce,
        address receiver,
        address depositAsset,
        uint256 depositAmount,
        uint256 shareAmount,
        uint256 depositTimestamp,
        uint256 lock
    ) external onlyOwner {
        _requireLocked(depositTimestamp, lock);
        bytes32 hash =
            keccak256(abi.encode(receiver, depositAsset, depositAmount, shareAmount, depositTimestamp, lock));
        _giveBack(nonce, hash, receiver, depositAsset, depositAmount, shareAmount);
    }
}

/// @title A teller as published since, for tests: deposits name who referred them, and some callers may name a receiver
contract VedaReferralTeller is VedaTellerBase {
    event Deposit(
        uint256 nonce,
        address indexed receiver,
        address indexed depositAsset,
        uint256 depositAmount,
        uint256 shareAmount,
        uint256 depositTimestamp,
        uint256 shareLockPeriodAtTimeOfDeposit,
        address indexed referralAddress
    );

    constructor(VedaVault vault_, VedaAccountant accountant_) VedaTellerBase(vault_, accountant_) {}

    function beforeTransferData(address user)
        external
        view
        returns (bool denyFrom, bool denyTo, bool denyOperator, bool permissionedOperator, uint256 shareUnlockTime)
    {
        return (_denied[user], _denied[user], _denied[user], false, _unlockTime[user]);
    }

    function deposit(address depositAsset, uint256 depositAmount, uint256 minimumMint, address referralAddress)
        external
        payable
        returns (uint256)
    {
        return _deposit(depositAsset, depositAmount, minimumMint, msg.sender, referralAddress);
    }

    function deposit(
        address depositAsset,
        uint256 depositAmount,
        uint256 minimumMint,
        address to,
        address referralAddress
    ) external payable onlyOwner returns (uint256) {
        return _deposit(depositAsset, depositAmount, minimumMint, to, referralAddress);
    }

    function refundDeposit(
        uint256 nonce,
        address receiver,
        address depositAsset,
        uint256 depositAmount,
        uint256 shareAmount,
        uint256 depositTimestamp,
        uint256 lock,
        address referralAddress
    ) external onlyOwner {
        _requireLocked(depositTimestamp, lock);
        bytes32 hash = keccak256(
            abi.encode(receiver, depositAsset, depositAmount, shareAmount, depositTimestamp, lock, referralAddress)
        );
        _giveBack(nonce, hash, receiver, depositAsset, depositAmount, shareAmount);
    }

    function _deposit(address asset, uint256 amount, uint256 minimumMint, address to, address referral)
        private
        returns (uint256 shares)
    {
        shares = _enter(asset, amount, minimumMint, to);
        uint256 nonce = ++depositNonce;
        uint256 lock = shareLockPeriod;
        publicDepositHistory[nonce] =
            keccak256(abi.encode(to, asset, amount, shares, block.timestamp, lock, referral));
        emit Deposit(nonce, to, asset, amount, shares, block.timestamp, lock, referral);
    }
}
