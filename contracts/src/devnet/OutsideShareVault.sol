// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

/// @dev The share of an {OutsideShareVault}: a token of its own (ERC-7575).
contract OutsideShare is ERC20 {
    address private immutable _vault;

    error OnlyVault();

    constructor(string memory name_, string memory symbol_) ERC20(name_, symbol_) {
        _vault = msg.sender;
    }

    function mint(address to, uint256 amount) external {
        if (msg.sender != _vault) revert OnlyVault();
        _mint(to, amount);
    }

    function burn(address from, uint256 amount) external {
        if (msg.sender != _vault) revert OnlyVault();
        _burn(from, amount);
    }
}

/// @title An ERC-7540 vault whose share is another token, with the published behaviour of pooled ones, for tests
/// @notice Requests of a controller share id 0. A settlement fixes a price of 18 digits; what can be claimed is kept in
/// shares (deposits) and in assets (redemptions), and told in the other by that price, rounded down: a claim of all
/// assets leaves a unit, a claim of all shares none. Shares are pulled by allowance, their owner's too.
contract OutsideShareVault is Ownable, IERC165 {
    using SafeERC20 for IERC20;
    using Math for uint256;

    struct Order {
        uint256 pending;
        uint256 claimable;
        uint256 price;
        bool cancelled;
        uint256 refund;
    }

    uint256 private constant WAD = 1e18;
    /// @dev Shares have 18 digits, the asset has 6.
    uint256 private constant SCALE = 1e12;

    address public immutable asset;
    OutsideShare private immutable _share;
    uint256 private _held;
    mapping(address controller => Order) private _deposits;
    mapping(address controller => Order) private _redeems;
    mapping(address controller => mapping(address operator => bool)) public isOperator;

    error ZeroAmountNotAllowed();
    error InvalidController();
    error InvalidOwner();
    error ExceedsMaxDeposit();
    error ExceedsMaxRedeem();
    error CancellationIsPending();
    error NoPendingRequest();

    event DepositRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets
    );
    event RedeemRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares
    );
    event CancelDepositRequest(address indexed controller, uint256 indexed requestId, address sender);
    event CancelDepositClaim(
        address indexed controller, address indexed receiver, uint256 indexed requestId, address sender, uint256 assets
    );
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event OperatorSet(address indexed controller, address indexed operator, bool approved);
    event Settled();

    constructor(address asset_, string memory name_, string memory symbol_) Ownable(msg.sender) {
        asset = asset_;
        _share = new OutsideShare(name_, symbol_);
    }

    function setOperator(address operator, bool approved) external returns (bool) {
        isOperator[msg.sender][operator] = approved;
        emit OperatorSet(msg.sender, operator, approved);
        return true;
    }

    function requestDeposit(uint256 assets, address controller, address owner) external returns (uint256) {
        if (owner != msg.sender && !isOperator[owner][msg.sender]) revert InvalidOwner();
        if (assets == 0) revert ZeroAmountNotAllowed();
        if (_deposits[controller].cancelled) revert CancellationIsPending();
        _deposits[controller].pending += assets;
        IERC20(asset).safeTransferFrom(owner, address(this), assets);
        emit DepositRequest(controller, owner, 0, msg.sender, assets);
        return 0;
    }

    function requestRedeem(uint256 shares, address controller, address owner) external returns (uint256) {
        if (owner != msg.sender && !isOperator[owner][msg.sender]) revert InvalidOwner();
        if (shares == 0) revert ZeroAmountNotAllowed();
        _redeems[controller].pending += shares;
        IERC20(_share).safeTransferFrom(owner, address(this), shares);
        emit RedeemRequest(controller, owner, 0, msg.sender, shares);
        return 0;
    }

    /// @notice Settles what is pending of a controller at a price of assets a share, with 18 digits.
    function settleDeposit(address controller, uint256 price) external onlyOwner {
        Order storage order = _deposits[controller];
        uint256 shares = (order.pending * SCALE).mulDiv(WAD, price);
        (order.claimable, order.price) = (order.claimable + shares, (order.pending * SCALE).mulDiv(WAD, shares));
        _held += order.pending;
        order.pending = 0;
        _share.mint(address(this), shares);
        emit Settled();
    }

    function settleRedeem(address controller, uint256 price) external onlyOwner {
        Order storage order = _redeems[controller];
        uint256 assets = order.pending.mulDiv(price, WAD) / SCALE;
        (order.claimable, order.price) = (order.claimable + assets, (assets * SCALE).mulDiv(WAD, order.pending));
        _held -= assets;
        _share.burn(address(this), order.pending);
        order.pending = 0;
        emit Settled();
    }

    function settleCancelDeposit(address controller) external onlyOwner {
        Order storage order = _deposits[controller];
        order.refund += order.pending;
        (order.pending, order.cancelled) = (0, false);
        emit Settled();
    }

    function cancelDepositRequest(uint256, address controller) external {
        _assertController(controller);
        if (_deposits[controller].pending == 0) revert NoPendingRequest();
        _deposits[controller].cancelled = true;
        emit CancelDepositRequest(controller, 0, msg.sender);
    }

    function claimCancelDepositRequest(uint256, address receiver, address controller)
        external
        returns (uint256 assets)
    {
        _assertController(controller);
        assets = _deposits[controller].refund;
        _deposits[controller].refund = 0;
        IERC20(asset).safeTransfer(receiver, assets);
        emit CancelDepositClaim(controller, receiver, 0, msg.sender, assets);
    }

    function deposit(uint256 assets, address receiver, address controller) external returns (uint256 shares) {
        _assertController(controller);
        if (assets > maxDeposit(controller)) revert ExceedsMaxDeposit();
        shares = (assets * SCALE).mulDiv(WAD, _deposits[controller].price);
        _claimShares(controller, receiver, assets, Math.min(shares, _deposits[controller].claimable));
    }

    function mint(uint256 shares, address receiver, address controller) external returns (uint256 assets) {
        _assertController(controller);
        if (shares > maxMint(controller)) revert ExceedsMaxDeposit();
        assets = shares.mulDiv(_deposits[controller].price, WAD, Math.Rounding.Ceil).ceilDiv(SCALE);
        _claimShares(controller, receiver, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address controller) external returns (uint256 assets) {
        _assertController(controller);
        Order storage order = _redeems[controller];
        uint256 most = maxRedeem(controller);
        if (shares > most) revert ExceedsMaxRedeem();
        assets = shares == most ? order.claimable : shares.mulDiv(order.price, WAD) / SCALE;
        order.claimable -= assets;
        IERC20(asset).safeTransfer(receiver, assets);
        emit Withdraw(msg.sender, receiver, controller, assets, shares);
    }

    function share() external view returns (address) {
        return address(_share);
    }

    function pendingDepositRequest(uint256, address controller) external view returns (uint256) {
        return _deposits[controller].cancelled ? 0 : _deposits[controller].pending;
    }

    function claimableDepositRequest(uint256, address controller) external view returns (uint256) {
        return maxDeposit(controller);
    }

    function pendingRedeemRequest(uint256, address controller) external view returns (uint256) {
        return _redeems[controller].pending;
    }

    function claimableRedeemRequest(uint256, address controller) external view returns (uint256) {
        return maxRedeem(controller);
    }

    function pendingCancelDepositRequest(uint256, address controller) external view returns (bool) {
        return _deposits[controller].cancelled;
    }

    function claimableCancelDepositRequest(uint256, address controller) external view returns (uint256) {
        return _deposits[controller].refund;
    }

    function maxDeposit(address controller) public view returns (uint256) {
        return _deposits[controller].claimable.mulDiv(_deposits[controller].price, WAD) / SCALE;
    }

    function maxMint(address controller) public view returns (uint256) {
        return _deposits[controller].claimable;
    }

    function maxRedeem(address controller) public view returns (uint256) {
        Order storage order = _redeems[controller];
        return order.claimable == 0 ? 0 : (order.claimable * SCALE).mulDiv(WAD, order.price);
    }

    function totalAssets() public view returns (uint256) {
        return _held;
    }

    function convertToAssets(uint256 shares) external view returns (uint256) {
        return shares.mulDiv(_held + 1, _share.totalSupply() + SCALE);
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == type(IERC165).interfaceId || id == 0xe3bc4e65 || id == 0xce3bbe50 || id == 0x620ee8e4
            || id == 0x2f0a18c5 || id == 0x8bf840e3;
    }

    function _claimShares(address controller, address receiver, uint256 assets, uint256 shares) private {
        _deposits[controller].claimable -= shares;
        IERC20(_share).safeTransfer(receiver, shares);
        emit Deposit(controller, receiver, assets, shares);
    }

    function _assertController(address controller) private view {
        if (controller != msg.sender && !isOperator[controller][msg.sender]) revert InvalidController();
    }
}
