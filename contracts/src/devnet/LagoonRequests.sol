// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {ERC20Pausable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Pausable.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @dev Holds what is requested and not settled; the vault alone takes from it.
contract LagoonSilo {
    using SafeERC20 for IERC20;

    constructor(IERC20 asset_) {
        asset_.forceApprove(msg.sender, type(uint256).max);
    }
}

/// @title Epochs, requests and settlements of {LagoonVault}
abstract contract LagoonRequests is ERC4626, ERC20Pausable, Ownable {
    using SafeERC20 for IERC20;
    using Math for uint256;

    enum State {
        Open,
        Closing,
        Closed
    }

    struct Epoch {
        uint256 settleId;
        mapping(address controller => uint256) requested;
    }

    struct Settlement {
        uint256 totalAssets;
        uint256 totalSupply;
        uint256 pending;
        uint16 feeBps;
    }

    /// @dev One side: requests of a controller are those of its last id.
    struct Side {
        uint256 epochId;
        uint256 settleId;
        uint256 lastSettled;
        mapping(address controller => uint256) lastId;
    }

    /// @dev Where the published vaults keep their silo.
    bytes32 private constant SILO_SLOT = 0x5c74d456014b1c0eb4368d944667a568313858a3029a650ff0cb7b56f8b57a08;
    uint256 private constant BPS = 10_000;

    uint8 internal immutable _offset;
    bool internal immutable _isV6;
    address internal immutable _silo;
    State internal _state;
    uint256 internal _totalAssets;
    uint256 internal _newTotalAssets = type(uint256).max;
    uint256 internal _validUntil;
    uint256 internal _lifespan;
    uint256 internal _maxCap = type(uint256).max;
    uint16 internal _entryBps;
    uint16 internal _exitBps;
    uint16 internal _haircutBps;
    bool internal _listed;
    bool internal _syncRedeems = true;

    Side internal _deposits;
    Side internal _redeems;
    mapping(uint256 id => Epoch) internal _epochs;
    mapping(uint256 id => Settlement) internal _settlements;
    mapping(address controller => mapping(address operator => bool)) internal _operators;
    mapping(address account => bool) internal _isListed;

    error NotOpen(State currentState);
    error NotClosing(State currentState);
    error Closed();
    error ValuationUpdateNotAllowed();
    error ERC7540PreviewDepositDisabled();
    error ERC7540PreviewMintDisabled();
    error ERC7540PreviewRedeemDisabled();
    error ERC7540PreviewWithdrawDisabled();
    error OnlyOneRequestAllowed();
    error RequestNotCancelable(uint256 requestId);
    error ERC7540InvalidOperator();
    error RequestIdNotClaimable();
    error CantDepositNativeToken();
    error NewTotalAssetsMissing();
    error WrongNewTotalAssets();
    error OnlyAsyncDepositAllowed();
    error OnlySyncDepositAllowed();
    error MaxCapReached();
    error SyncRedeemNotAllowed();
    error BelowMinimumAssets(uint256 assets, uint256 minimumAssets);
    error NotWhitelisted();
    error AddressNotAllowed(address account);

    event Referral(address indexed referral, address indexed owner, uint256 indexed requestId, uint256 assets);
    event StateUpdated(State state);
    event DepositRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets
    );
    event RedeemRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares
    );
    event DepositRequestCanceled(uint256 indexed requestId, address indexed controller);
    event RedeemRequestCanceled(uint256 indexed requestId, address indexed controller, uint256 requestedAmount);
    event DepositSync(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event WithdrawSync(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event OperatorSet(address indexed controller, address indexed operator, bool approved);
    event NewTotalAssetsUpdated(uint256 totalAssets);
    event TotalAssetsUpdated(uint256 totalAssets);
    event SettingsSet();

    constructor(IERC20 asset_, string memory name_, string memory symbol_, uint8 offset_, bool isV6_)
        ERC20(name_, symbol_)
        ERC4626(asset_)
        Ownable(msg.sender)
    {
        _offset = offset_;
        _isV6 = isV6_;
        address silo = address(new LagoonSilo(asset_));
        _silo = silo;
        assembly ("memory-safe") {
            sstore(SILO_SLOT, silo)
        }
        (_deposits.epochId, _deposits.settleId, _redeems.epochId, _redeems.settleId) = (1, 1, 2, 2);
    }

    modifier onlyOpen() {
        if (_state != State.Open) revert NotOpen(_state);
        _;
    }

    // ---- what anybody reads ----

    function isTotalAssetsValid() public view returns (bool) {
        return block.timestamp < _validUntil;
    }

    /// @notice Up to 0.5.
    function isWhitelisted(address account) public view returns (bool) {
        if (_isV6) revert();
        return !_listed || _isListed[account];
    }

    /// @notice From 0.6 on.
    function isAllowed(address account) public view returns (bool) {
        _assertV6();
        return !_listed || _isListed[account];
    }

    function previewSyncDeposit(uint256 assets) external view returns (uint256) {
        if (paused() || !isTotalAssetsValid()) return 0;
        uint256 shares = _convertToShares(assets, Math.Rounding.Floor);
        return shares - _feeOf(shares, _entryBps);
    }

    /// @notice From 0.6 on.
    function previewSyncRedeem(uint256 shares) external view returns (uint256) {
        _assertV6();
        if (paused() || !isTotalAssetsValid()) return 0;
        uint256 net = shares - _feeOf(shares, _exitBps);
        return _convertToAssets(net - _feeOf(net, _haircutBps), Math.Rounding.Floor);
    }

    function safe() external view returns (address) {
        return owner();
    }

    function share() external view returns (address) {
        return address(this);
    }

    function isOperator(address controller, address operator) external view returns (bool) {
        return _operators[controller][operator];
    }

    function pendingDepositRequest(uint256 requestId, address controller) public view returns (uint256) {
        return _read(_deposits, requestId, controller, false);
    }

    function claimableDepositRequest(uint256 requestId, address controller) public view returns (uint256) {
        return _read(_deposits, requestId, controller, true);
    }

    function pendingRedeemRequest(uint256 requestId, address controller) public view returns (uint256) {
        return _read(_redeems, requestId, controller, false);
    }

    function claimableRedeemRequest(uint256 requestId, address controller) public view returns (uint256) {
        return _read(_redeems, requestId, controller, true);
    }

    function totalAssets() public view override returns (uint256) {
        return _totalAssets;
    }

    function decimals() public view override(ERC4626, ERC20) returns (uint8) {
        return super.decimals();
    }

    function maxDeposit(address controller) public view override returns (uint256) {
        return paused() ? 0 : claimableDepositRequest(0, controller);
    }

    function maxRedeem(address controller) public view override returns (uint256 shares) {
        if (paused()) return 0;
        shares = claimableRedeemRequest(0, controller);
        if (shares == 0 && _state == State.Closed) return balanceOf(controller);
    }

    function previewDeposit(uint256) public pure override returns (uint256) {
        revert ERC7540PreviewDepositDisabled();
    }

    function previewMint(uint256) public pure override returns (uint256) {
        revert ERC7540PreviewMintDisabled();
    }

    function previewRedeem(uint256) public pure override returns (uint256) {
        revert ERC7540PreviewRedeemDisabled();
    }

    function previewWithdraw(uint256) public pure override returns (uint256) {
        revert ERC7540PreviewWithdrawDisabled();
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == type(IERC165).interfaceId || id == 0xe3bc4e65 || id == 0xce3bbe50 || id == 0x620ee8e4
            || id == 0x2f0a18c5;
    }

    // ---- within ----

    function _endEpoch(Side storage side, uint256 pending) internal {
        _epochs[side.epochId].settleId = side.settleId;
        if (pending == 0) return;
        side.epochId += 2;
        _settlements[side.settleId].pending = pending;
    }

    function _updateTotalAssets(uint256 newTotalAssets) internal whenNotPaused {
        if (_newTotalAssets == type(uint256).max) revert NewTotalAssetsMissing();
        if (newTotalAssets != _newTotalAssets) revert WrongNewTotalAssets();
        (_totalAssets, _newTotalAssets) = (newTotalAssets, type(uint256).max);
        _validUntil = block.timestamp + _lifespan;
        emit TotalAssetsUpdated(newTotalAssets);
    }

    function _settleDeposits() internal {
        Settlement storage settlement = _settlements[_deposits.settleId];
        uint256 assets = settlement.pending;
        if (assets == 0) return;
        uint256 shares = convertToShares(assets);
        uint256 fee = _feeOf(shares, _entryBps);
        (settlement.totalAssets, settlement.totalSupply) = (_totalAssets, totalSupply());
        settlement.feeBps = _entryBps;
        _deposits.lastSettled = _deposits.epochId - 2;
        _deposits.settleId += 2;
        _totalAssets += assets;
        _mint(address(this), shares - fee);
        if (fee > 0) _mint(owner(), fee);
        IERC20(asset()).safeTransferFrom(_silo, owner(), assets);
    }

    /// @dev Nothing is settled for which the safe has too little.
    function _settleRedeems() internal {
        Settlement storage settlement = _settlements[_redeems.settleId];
        uint256 shares = settlement.pending;
        uint256 net = shares - _feeOf(shares, _exitBps);
        uint256 assets = convertToAssets(net);
        if (assets == 0 || assets > IERC20(asset()).balanceOf(owner())) return;
        (settlement.totalAssets, settlement.totalSupply) = (_totalAssets, totalSupply());
        settlement.feeBps = _exitBps;
        _redeems.lastSettled = _redeems.epochId - 2;
        _redeems.settleId += 2;
        _totalAssets -= assets;
        _burn(_silo, net);
        if (shares > net) _transfer(_silo, owner(), shares - net);
        IERC20(asset()).safeTransferFrom(owner(), address(this), assets);
    }

    function _open(Side storage side, address controller, uint256 pending) internal returns (uint256 id) {
        id = side.epochId;
        if (side.lastId[controller] == id) return id;
        if (pending > 0) revert OnlyOneRequestAllowed();
        side.lastId[controller] = id;
    }

    function _cancel(Side storage side) internal returns (uint256 id, uint256 amount) {
        id = side.lastId[msg.sender];
        if (id != side.epochId) revert RequestNotCancelable(id);
        amount = _epochs[id].requested[msg.sender];
        _epochs[id].requested[msg.sender] = 0;
    }

    function _read(Side storage side, uint256 id, address controller, bool settled) private view returns (uint256) {
        if (id == 0) id = side.lastId[controller];
        return (id <= side.lastSettled) == settled ? _epochs[id].requested[controller] : 0;
    }

    function _claimDeposit(uint256 assets, address receiver, address controller) internal returns (uint256 shares) {
        uint256 id = _deposits.lastId[controller];
        if (id > _deposits.lastSettled) revert RequestIdNotClaimable();
        _epochs[id].requested[controller] -= assets;
        Settlement storage settled = _settlements[_epochs[id].settleId];
        uint256 net = assets - _feeOf(assets, settled.feeBps);
        shares = net.mulDiv(settled.totalSupply + 10 ** _offset, settled.totalAssets + 1);
        _transfer(address(this), receiver, shares);
        emit Deposit(controller, receiver, assets, shares);
    }

    function _claimRedeem(uint256 shares, address receiver, address controller) internal returns (uint256 assets) {
        uint256 id = _redeems.lastId[controller];
        if (id > _redeems.lastSettled) revert RequestIdNotClaimable();
        _epochs[id].requested[controller] -= shares;
        Settlement storage settled = _settlements[_epochs[id].settleId];
        uint256 net = shares - _feeOf(shares, settled.feeBps);
        assets = net.mulDiv(settled.totalAssets + 1, settled.totalSupply + 10 ** _offset);
        IERC20(asset()).safeTransfer(receiver, assets);
        emit Withdraw(msg.sender, receiver, controller, assets, shares);
    }

    function _assertV6() internal view {
        if (!_isV6) revert();
    }

    function _assertOperator(address owner) internal view {
        if (owner != msg.sender && !_operators[owner][msg.sender]) revert ERC7540InvalidOperator();
    }

    function _assertAllowed(address account) internal view {
        if (!_listed || _isListed[account]) return;
        if (_isV6) revert AddressNotAllowed(account);
        revert NotWhitelisted();
    }

    function _assertUnderCap(uint256 assets) internal view {
        if (_totalAssets + assets + IERC20(asset()).balanceOf(_silo) > _maxCap) revert MaxCapReached();
    }

    function _feeOf(uint256 amount, uint16 bps) internal pure returns (uint256) {
        return amount.mulDiv(bps, BPS, Math.Rounding.Ceil);
    }

    function _decimalsOffset() internal view override returns (uint8) {
        return _offset;
    }

    function _update(address from, address to, uint256 value) internal override(ERC20, ERC20Pausable) {
        super._update(from, to, value);
    }
}
