// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {MapleQueue} from "./MapleQueue.sol";

/// @title A manager with the published behaviour of Maple's pool managers, for tests
/// @notice Says who may call what of the pool, up to which cap, and hands redemptions to the queue. It is its own list of
/// permissions. Who deploys the pool is its delegate.
contract MapleManager {
    using SafeERC20 for IERC20;

    MaplePool public immutable pool;
    address public immutable asset;
    MapleQueue public immutable withdrawalManager;
    address public immutable poolDelegate;
    address public immutable poolPermissionManager = address(this);
    bool public active = true;
    bool public isPaused;
    bool public isPublic;
    uint256 public liquidityCap = type(uint256).max / 2;
    uint256 public unrealizedLosses;
    uint256 public lent;
    /// @notice Which bits a lender needs that is on no list.
    uint256 public poolBitmap = 1;
    mapping(address lender => bool) public lenderAllowlist;
    mapping(address lender => uint256) public lenderBitmaps;
    mapping(address admin => bool) public permissionAdmins;

    modifier onlyPool() {
        require(!isPaused, "PM:PAUSED");
        require(msg.sender == address(pool), "PM:NOT_POOL");
        _;
    }

    modifier onlyDelegate() {
        require(msg.sender == poolDelegate, "PM:NOT_PD");
        _;
    }

    constructor(address delegate, address asset_) {
        (pool, asset, poolDelegate) = (MaplePool(msg.sender), asset_, delegate);
        withdrawalManager = new MapleQueue(msg.sender);
        lenderAllowlist[address(withdrawalManager)] = true;
        lenderAllowlist[address(this)] = true;
    }

    function setLender(address lender, bool isAllowed) external onlyDelegate {
        lenderAllowlist[lender] = isAllowed;
    }

    function setPermissionAdmin(address admin, bool isAdmin) external onlyDelegate {
        permissionAdmins[admin] = isAdmin;
    }

    function setLenderBitmaps(address[] calldata lenders, uint256[] calldata bitmaps) external {
        require(permissionAdmins[msg.sender], "PPM:NOT_PA");
        for (uint256 i; i < lenders.length; ++i) lenderBitmaps[lenders[i]] = bitmaps[i];
    }

    function setPublic(bool isPublic_) external onlyDelegate {
        isPublic = isPublic_;
    }

    function setActive(bool active_) external onlyDelegate {
        active = active_;
    }

    function setPaused(bool isPaused_) external onlyDelegate {
        isPaused = isPaused_;
    }

    function setLiquidityCap(uint256 cap) external onlyDelegate {
        liquidityCap = cap;
    }

    function setUnrealizedLosses(uint256 losses) external onlyDelegate {
        unrealizedLosses = losses;
    }

    /// @notice Lends assets of the pool to the delegate: they count, and cannot be paid out.
    function fund(uint256 assets) external onlyDelegate {
        lent += assets;
        IERC20(asset).safeTransferFrom(address(pool), msg.sender, assets);
    }

    function repay(uint256 assets) external onlyDelegate {
        lent -= assets;
        IERC20(asset).safeTransferFrom(msg.sender, address(pool), assets);
    }

    function hasPermission(address, address lender, bytes32) public view returns (bool) {
        return isPublic || lenderAllowlist[lender] || (lenderBitmaps[lender] & poolBitmap) == poolBitmap;
    }

    /// @notice Whether the pool takes a call, with these arguments, of a caller; and if not, why.
    function canCall(bytes32 what, address caller, bytes calldata arguments)
        external
        view
        returns (bool, string memory)
    {
        if (isPaused) return (false, "PM:CC:PAUSED");
        if (!_mayAll(what, caller, arguments)) return (false, "PM:CC:NOT_ALLOWED");
        if (what != "P:deposit" && what != "P:mint") return (true, "");
        uint256 assets = _word(arguments, 0);
        if (what == "P:mint") assets = pool.previewMint(assets);
        if (!active) return (false, "P:NOT_ACTIVE");
        if (assets + totalAssets() > liquidityCap) return (false, "P:DEPOSIT_GT_LIQ_CAP");
        return (true, "");
    }

    /// @dev Each call of the pool asks for another party: the receiver of shares, their owner, or both sides of a transfer.
    function _mayAll(bytes32 what, address caller, bytes calldata arguments) private view returns (bool) {
        if (what == "P:transfer") return _may(caller, what) && _may(_party(arguments, 0), what);
        if (what == "P:transferFrom") return _may(_party(arguments, 0), what) && _may(_party(arguments, 1), what);
        return _may(_party(arguments, what == "P:redeem" ? 2 : 1), what);
    }

    function _may(address lender, bytes32 what) private view returns (bool) {
        return hasPermission(address(this), lender, what);
    }

    function _party(bytes calldata arguments, uint256 index) private pure returns (address) {
        return address(uint160(_word(arguments, index)));
    }

    function _word(bytes calldata arguments, uint256 index) private pure returns (uint256) {
        return uint256(bytes32(arguments[32 * index:32 * index + 32]));
    }

    function totalAssets() public view returns (uint256) {
        return IERC20(asset).balanceOf(address(pool)) + lent;
    }

    function maxDeposit(address receiver) external view returns (uint256) {
        uint256 held = totalAssets();
        return liquidityCap > held && hasPermission(address(this), receiver, "P:deposit") ? liquidityCap - held : 0;
    }

    function requestRedeem(uint256 shares, address owner) external onlyPool {
        pool.approve(address(withdrawalManager), shares);
        withdrawalManager.addShares(shares, owner);
    }

    function removeShares(uint256 shares, address owner) external onlyPool returns (uint256) {
        return withdrawalManager.removeShares(shares, owner);
    }

    function processRedeem(uint256 shares, address owner) external onlyPool returns (uint256, uint256) {
        return withdrawalManager.processExit(shares, owner);
    }
}

/// @title A pool with the published behaviour of Maple's (syrupUSDC, syrupUSDT), for tests
/// @notice ERC-4626 on the way in, for whom the manager lets in. On the way out shares are requested, wait in the queue's
/// hands, and are paid by a redemption of the queue's own; only who redeems by hand calls `redeem`.
contract MaplePool is ERC20 {
    using SafeERC20 for IERC20;

    address public immutable asset;
    MapleManager public immutable manager;
    uint8 private immutable _decimals;

    event Deposit(address indexed caller, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed caller, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event RedemptionRequested(address indexed owner, uint256 shares, uint256 escrowedShares);
    event SharesRemoved(address indexed owner, uint256 shares);

    constructor(address asset_, string memory name_, string memory symbol_) ERC20(name_, symbol_) {
        asset = asset_;
        _decimals = IERC20Metadata(asset_).decimals();
        manager = new MapleManager(msg.sender, asset_);
        IERC20(asset_).forceApprove(address(manager), type(uint256).max);
    }

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        _check("P:deposit");
        _deposit(assets, shares = previewDeposit(assets), receiver);
    }

    function mint(uint256 shares, address receiver) external returns (uint256 assets) {
        assets = previewMint(shares);
        _check("P:mint");
        _deposit(assets, shares, receiver);
    }

    function redeem(uint256 shares, address receiver, address owner) external returns (uint256 assets) {
        _check("P:redeem");
        require(owner == msg.sender || allowance(owner, msg.sender) > 0, "PM:PR:NO_ALLOWANCE");
        (shares, assets) = manager.processRedeem(shares, owner);
        if (shares == 0) return assets;
        if (msg.sender != owner) _spendAllowance(owner, msg.sender, shares);
        _burn(owner, shares);
        emit Withdraw(msg.sender, receiver, owner, assets, shares);
        IERC20(asset).safeTransfer(receiver, assets);
    }

    function withdraw(uint256, address, address) external pure returns (uint256) {
        revert("PM:PW:NOT_ENABLED");
    }

    function requestRedeem(uint256 shares, address owner) external returns (uint256) {
        _check("P:requestRedeem");
        if (msg.sender != owner) _spendAllowance(owner, msg.sender, shares);
        if (shares > 0) _transfer(owner, address(manager), shares);
        manager.requestRedeem(shares, owner);
        emit RedemptionRequested(owner, shares, shares);
        return shares;
    }

    function removeShares(uint256 shares, address owner) external returns (uint256 returned) {
        _check("P:removeShares");
        if (msg.sender != owner) _spendAllowance(owner, msg.sender, shares);
        emit SharesRemoved(owner, returned = manager.removeShares(shares, owner));
    }

    function transfer(address to, uint256 shares) public override returns (bool) {
        _check("P:transfer");
        return super.transfer(to, shares);
    }

    function transferFrom(address from, address to, uint256 shares) public override returns (bool) {
        _check("P:transferFrom");
        return super.transferFrom(from, to, shares);
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function totalAssets() public view returns (uint256) {
        return manager.totalAssets();
    }

    function convertToShares(uint256 assets) public view returns (uint256) {
        return totalSupply() == 0 ? assets : assets * totalSupply() / totalAssets();
    }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        return totalSupply() == 0 ? shares : shares * totalAssets() / totalSupply();
    }

    /// @notice What shares are worth on the way out: losses that are not realised yet count.
    function convertToExitAssets(uint256 shares) external view returns (uint256) {
        if (totalSupply() == 0) return shares;
        return shares * (totalAssets() - manager.unrealizedLosses()) / totalSupply();
    }

    function previewDeposit(uint256 assets) public view returns (uint256) {
        return convertToShares(assets);
    }

    function previewMint(uint256 shares) public view returns (uint256) {
        if (totalSupply() == 0) return shares;
        return (shares * totalAssets() + totalSupply() - 1) / totalSupply();
    }

    function previewRedeem(uint256 shares) external view returns (uint256 assets) {
        (, assets) = manager.withdrawalManager().previewRedeem(msg.sender, shares);
    }

    function maxDeposit(address receiver) external view returns (uint256) {
        return manager.maxDeposit(receiver);
    }

    function maxMint(address receiver) external view returns (uint256) {
        return previewDeposit(manager.maxDeposit(receiver));
    }

    function maxRedeem(address owner) external view returns (uint256) {
        return manager.withdrawalManager().lockedShares(owner);
    }

    function maxWithdraw(address) external pure returns (uint256) {
        return 0;
    }

    function _deposit(uint256 assets, uint256 shares, address receiver) private {
        require(shares != 0, "P:M:ZERO_SHARES");
        require(assets != 0, "P:M:ZERO_ASSETS");
        _mint(receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
        IERC20(asset).safeTransferFrom(msg.sender, address(this), assets);
    }

    function _check(bytes32 what) private view {
        (bool isAllowed, string memory why) = manager.canCall(what, msg.sender, msg.data[4:]);
        require(isAllowed, why);
    }
}

/// @title A router with the published behaviour of Maple's SyrupRouter, for tests
/// @notice Deposits for who has the permission, or brings one that a permission admin signed, and hands the shares on: the
/// pool tells of the router, as sender and owner.
contract SyrupRouter {
    using SafeERC20 for IERC20;

    address public immutable asset;
    MaplePool public immutable pool;
    MapleManager public immutable poolManager;
    mapping(address owner => uint256) public nonces;

    event DepositData(address indexed owner, uint256 amount, bytes32 depositData);

    constructor(MaplePool pool_) {
        (pool, asset, poolManager) = (pool_, pool_.asset(), pool_.manager());
        IERC20(asset).forceApprove(address(pool_), type(uint256).max);
    }

    function authorizeAndDeposit(
        uint256 bitmap,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s,
        uint256 amount,
        bytes32 depositData
    ) external returns (uint256) {
        require(deadline >= block.timestamp, "SR:A:EXPIRED");
        require(v == 27 || v == 28, "SR:A:MALLEABLE");
        bytes32 domain = keccak256(
            abi.encodePacked(
                "\x19\x01", block.chainid, address(this), msg.sender, nonces[msg.sender]++, bitmap, deadline
            )
        );
        address signer = ecrecover(domain, v, r, s);
        require(signer != address(0) && poolManager.permissionAdmins(signer), "SR:A:NOT_PERMISSION_ADMIN");
        (address[] memory lenders, uint256[] memory bitmaps) = (new address[](1), new uint256[](1));
        (lenders[0], bitmaps[0]) = (msg.sender, bitmap);
        poolManager.setLenderBitmaps(lenders, bitmaps);
        return deposit(amount, depositData);
    }

    function deposit(uint256 amount, bytes32 depositData) public returns (uint256 shares) {
        require(poolManager.hasPermission(address(poolManager), msg.sender, "P:deposit"), "SR:D:NOT_AUTHORIZED");
        IERC20(asset).safeTransferFrom(msg.sender, address(this), amount);
        shares = pool.deposit(amount, address(this));
        IERC20(address(pool)).safeTransfer(msg.sender, shares);
        emit DepositData(msg.sender, amount, depositData);
    }
}
