// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title An asynchronous vault of ERC-7540, for development chains and tests
/// @notice Deposits, redemptions or both are requested first; the owner settles them at the share price of that
/// moment; then they are claimed. Requests of a controller share id 0, or each has an id of its own. Whatever is sent
/// to the vault beside requests is yield. How a pending deposit is cancelled, if at all, is for the derived contracts.
contract AsyncVault is ERC4626, Ownable, IERC165 {
    using SafeERC20 for IERC20;

    struct Settings {
        bool asyncDeposit;
        bool asyncRedeem;
        bool separateIds;
        uint8 decimalsOffset;
    }

    /// @dev What is asked (assets of a deposit, shares of a redemption) and what a settled request gives.
    struct Request {
        uint256 pending;
        uint256 claimable;
        uint256 given;
    }

    bytes4 private constant OPERATORS = 0xe3bc4e65;
    bytes4 private constant ASYNC_DEPOSIT = 0xce3bbe50;
    bytes4 private constant ASYNC_REDEEM = 0x620ee8e4;
    bytes4 private constant VAULT_7575 = 0x2f0a18c5;

    bool private immutable _asyncDeposit;
    bool private immutable _asyncRedeem;
    bool private immutable _separateIds;
    uint8 private immutable _offset;
    uint256 private _lastId;
    bool private _paused;
    /// @dev Assets held that belong to no share: pending and cancelled deposits, and settled redemptions.
    uint256 private _reservedAssets;

    mapping(address controller => mapping(address operator => bool)) private _operators;
    mapping(address controller => uint256[]) private _depositIds;
    mapping(address controller => uint256[]) private _redeemIds;
    mapping(address controller => mapping(uint256 id => Request)) private _deposits;
    mapping(address controller => mapping(uint256 id => Request)) private _redeems;

    error NotOperator(address owner, address caller);
    error NotAsynchronous();
    /// @notice ERC-7540 forbids previews where the price is not known yet.
    error NoPreview();
    error NothingRequested();
    error NotEnoughClaimable(uint256 asked, uint256 claimable);
    error RequestsPaused();

    event DepositRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets
    );
    event RedeemRequest(
        address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 shares
    );
    event OperatorSet(address indexed controller, address indexed operator, bool approved);
    event PausedSet(bool paused);

    constructor(IERC20 asset_, string memory name_, string memory symbol_, Settings memory settings)
        ERC20(name_, symbol_)
        ERC4626(asset_)
        Ownable(msg.sender)
    {
        _asyncDeposit = settings.asyncDeposit;
        _asyncRedeem = settings.asyncRedeem;
        _separateIds = settings.separateIds;
        _offset = settings.decimalsOffset;
    }

    /// @notice Stops new deposit requests.
    function setPaused(bool paused) external onlyOwner {
        _paused = paused;
        emit PausedSet(paused);
    }

    function setOperator(address operator, bool approved) external returns (bool) {
        _operators[msg.sender][operator] = approved;
        emit OperatorSet(msg.sender, operator, approved);
        return true;
    }

    /// @notice Takes `assets` from `owner` into a pending request of `controller`.
    function requestDeposit(uint256 assets, address controller, address owner) public virtual returns (uint256 requestId) {
        if (!_asyncDeposit) revert NotAsynchronous();
        if (_paused) revert RequestsPaused();
        if (assets == 0) revert NothingRequested();
        _assertOperator(owner);
        requestId = _open(_depositIds[controller]);
        _beforeDepositRequest(controller, requestId);
        _deposits[controller][requestId].pending += assets;
        _reservedAssets += assets;
        emit DepositRequest(controller, owner, requestId, msg.sender, assets);
        IERC20(asset()).safeTransferFrom(owner, address(this), assets);
    }

    /// @notice Takes `shares` from `owner` into a pending request of `controller`.
    function requestRedeem(uint256 shares, address controller, address owner) external returns (uint256 requestId) {
        if (!_asyncRedeem) revert NotAsynchronous();
        if (shares == 0) revert NothingRequested();
        if (owner != msg.sender && !_operators[owner][msg.sender]) _spendAllowance(owner, msg.sender, shares);
        requestId = _open(_redeemIds[controller]);
        _redeems[controller][requestId].pending += shares;
        emit RedeemRequest(controller, owner, requestId, msg.sender, shares);
        _transfer(owner, address(this), shares);
    }

    /// @notice Gives a pending deposit its shares, at the price of now; they wait here to be claimed.
    function settleDeposit(address controller, uint256 requestId) external onlyOwner {
        _settleDeposit(controller, requestId, _deposits[controller][requestId].pending);
    }

    /// @notice Settles `assets` of what is pending; the rest of the request goes on waiting.
    function settleDepositPart(address controller, uint256 requestId, uint256 assets) external onlyOwner {
        _settleDeposit(controller, requestId, assets);
    }

    /// @notice Gives a pending redemption its assets, at the price of now; they wait here to be claimed.
    function settleRedeem(address controller, uint256 requestId) external onlyOwner {
        _settleRedeem(controller, requestId, _redeems[controller][requestId].pending);
    }

    /// @notice Settles `shares` of what is pending; the rest of the request goes on waiting.
    function settleRedeemPart(address controller, uint256 requestId, uint256 shares) external onlyOwner {
        _settleRedeem(controller, requestId, shares);
    }

    /// @notice Claims the shares of `assets` of settled deposits, oldest first.
    function deposit(uint256 assets, address receiver, address controller) public returns (uint256 shares) {
        if (!_asyncDeposit) revert NotAsynchronous();
        _assertOperator(controller);
        shares = _consume(_depositIds[controller], _deposits[controller], assets);
        emit Deposit(controller, receiver, assets, shares);
        _transfer(address(this), receiver, shares);
    }

    /// @notice Claims `shares` of settled deposits, oldest first.
    function mint(uint256 shares, address receiver, address controller) public returns (uint256 assets) {
        if (!_asyncDeposit) revert NotAsynchronous();
        _assertOperator(controller);
        assets = _consumeGiven(_depositIds[controller], _deposits[controller], shares);
        emit Deposit(controller, receiver, assets, shares);
        _transfer(address(this), receiver, shares);
    }

    function deposit(uint256 assets, address receiver) public override returns (uint256) {
        return _asyncDeposit ? deposit(assets, receiver, msg.sender) : super.deposit(assets, receiver);
    }

    function mint(uint256 shares, address receiver) public override returns (uint256) {
        return _asyncDeposit ? mint(shares, receiver, msg.sender) : super.mint(shares, receiver);
    }

    /// @notice Claims the assets of `shares` of settled redemptions, oldest first; redeems at once where it is not
    /// asynchronous.
    function redeem(uint256 shares, address receiver, address controller) public override returns (uint256 assets) {
        if (!_asyncRedeem) return super.redeem(shares, receiver, controller);
        _assertOperator(controller);
        assets = _consume(_redeemIds[controller], _redeems[controller], shares);
        _payOut(receiver, controller, assets, shares);
    }

    function withdraw(uint256 assets, address receiver, address controller) public override returns (uint256 shares) {
        if (!_asyncRedeem) return super.withdraw(assets, receiver, controller);
        _assertOperator(controller);
        shares = _consumeGiven(_redeemIds[controller], _redeems[controller], assets);
        _payOut(receiver, controller, assets, shares);
    }

    function isOperator(address controller, address operator) external view returns (bool) {
        return _operators[controller][operator];
    }

    function pendingDepositRequest(uint256 requestId, address controller) public view virtual returns (uint256 assets) {
        return _deposits[controller][requestId].pending;
    }

    function claimableDepositRequest(uint256 requestId, address controller) public view virtual returns (uint256) {
        return _deposits[controller][requestId].claimable;
    }

    function pendingRedeemRequest(uint256 requestId, address controller) external view returns (uint256 shares) {
        return _redeems[controller][requestId].pending;
    }

    function claimableRedeemRequest(uint256 requestId, address controller) external view returns (uint256 shares) {
        return _redeems[controller][requestId].claimable;
    }

    /// @notice The share token: this contract (ERC-7575).
    function share() external view returns (address) {
        return address(this);
    }

    function supportsInterface(bytes4 interfaceId) public view virtual returns (bool) {
        return interfaceId == type(IERC165).interfaceId || interfaceId == OPERATORS || interfaceId == VAULT_7575
            || (interfaceId == ASYNC_DEPOSIT && _asyncDeposit) || (interfaceId == ASYNC_REDEEM && _asyncRedeem);
    }

    function totalAssets() public view override returns (uint256) {
        return IERC20(asset()).balanceOf(address(this)) - _reservedAssets;
    }

    function maxDeposit(address controller) public view override returns (uint256) {
        if (_asyncDeposit) return _sumClaimable(_depositIds[controller], _deposits[controller]);
        return _paused ? 0 : super.maxDeposit(controller);
    }

    function maxMint(address controller) public view override returns (uint256) {
        if (_asyncDeposit) return _sumGiven(_depositIds[controller], _deposits[controller]);
        return _paused ? 0 : super.maxMint(controller);
    }

    function maxRedeem(address controller) public view override returns (uint256) {
        if (_asyncRedeem) return _sumClaimable(_redeemIds[controller], _redeems[controller]);
        return super.maxRedeem(controller);
    }

    function maxWithdraw(address controller) public view override returns (uint256) {
        if (_asyncRedeem) return _sumGiven(_redeemIds[controller], _redeems[controller]);
        return super.maxWithdraw(controller);
    }

    function previewDeposit(uint256 assets) public view override returns (uint256) {
        if (_asyncDeposit) revert NoPreview();
        return super.previewDeposit(assets);
    }

    function previewMint(uint256 shares) public view override returns (uint256) {
        if (_asyncDeposit) revert NoPreview();
        return super.previewMint(shares);
    }

    function previewRedeem(uint256 shares) public view override returns (uint256) {
        if (_asyncRedeem) revert NoPreview();
        return super.previewRedeem(shares);
    }

    function previewWithdraw(uint256 assets) public view override returns (uint256) {
        if (_asyncRedeem) revert NoPreview();
        return super.previewWithdraw(assets);
    }

    /// @dev Called before assets join a request.
    function _beforeDepositRequest(address controller, uint256 requestId) internal virtual {}

    /// @dev Takes the whole pending deposit out of a request; its assets stay reserved.
    function _takePending(address controller, uint256 requestId) internal returns (uint256 assets) {
        assets = _deposits[controller][requestId].pending;
        if (assets == 0) revert NothingRequested();
        _deposits[controller][requestId].pending = 0;
    }

    /// @dev Pays back assets of a cancelled deposit.
    function _refund(address receiver, uint256 assets) internal {
        _reservedAssets -= assets;
        IERC20(asset()).safeTransfer(receiver, assets);
    }

    function _assertOperator(address owner) internal view {
        if (owner != msg.sender && !_operators[owner][msg.sender]) revert NotOperator(owner, msg.sender);
    }

    function _lastDepositId(address controller) internal view returns (uint256) {
        uint256[] storage ids = _depositIds[controller];
        return ids.length == 0 ? 0 : ids[ids.length - 1];
    }

    function _decimalsOffset() internal view override returns (uint8) {
        return _offset;
    }

    function _open(uint256[] storage ids) private returns (uint256 requestId) {
        if (_separateIds) requestId = ++_lastId;
        if (_separateIds || ids.length == 0) ids.push(requestId);
    }

    /// @dev More than is pending underflows.
    function _settleDeposit(address controller, uint256 requestId, uint256 assets) private {
        if (assets == 0) revert NothingRequested();
        Request storage request = _deposits[controller][requestId];
        uint256 shares = _convertToShares(assets, Math.Rounding.Floor);
        request.pending -= assets;
        request.claimable += assets;
        request.given += shares;
        _reservedAssets -= assets;
        _mint(address(this), shares);
    }

    /// @dev More than is pending underflows.
    function _settleRedeem(address controller, uint256 requestId, uint256 shares) private {
        if (shares == 0) revert NothingRequested();
        Request storage request = _redeems[controller][requestId];
        uint256 assets = _convertToAssets(shares, Math.Rounding.Floor);
        request.pending -= shares;
        request.claimable += shares;
        request.given += assets;
        _reservedAssets += assets;
        _burn(address(this), shares);
    }

    function _payOut(address receiver, address controller, uint256 assets, uint256 shares) private {
        _reservedAssets -= assets;
        emit Withdraw(msg.sender, receiver, controller, assets, shares);
        IERC20(asset()).safeTransfer(receiver, assets);
    }

    /// @dev Consumes `amount` of what was asked, and answers what it gives; the last part of a request gives the rest.
    function _consume(uint256[] storage ids, mapping(uint256 => Request) storage requests, uint256 amount)
        private
        returns (uint256 given)
    {
        uint256 left = amount;
        for (uint256 i = 0; i < ids.length && left > 0; i++) {
            Request storage request = requests[ids[i]];
            uint256 part = Math.min(left, request.claimable);
            if (part == 0) continue;
            uint256 gives = Math.mulDiv(request.given, part, request.claimable);
            request.claimable -= part;
            request.given -= gives;
            left -= part;
            given += gives;
        }
        if (amount == 0 || left > 0) revert NotEnoughClaimable(amount, amount - left);
    }

    /// @dev Consumes as much as gives `amount`, and answers what was asked for it, rounded up.
    function _consumeGiven(uint256[] storage ids, mapping(uint256 => Request) storage requests, uint256 amount)
        private
        returns (uint256 asked)
    {
        uint256 left = amount;
        for (uint256 i = 0; i < ids.length && left > 0; i++) {
            Request storage request = requests[ids[i]];
            uint256 part = Math.min(left, request.given);
            if (part == 0) continue;
            uint256 takes = Math.mulDiv(request.claimable, part, request.given, Math.Rounding.Ceil);
            request.given -= part;
            request.claimable -= takes;
            left -= part;
            asked += takes;
        }
        if (amount == 0 || left > 0) revert NotEnoughClaimable(amount, amount - left);
    }

    function _sumClaimable(uint256[] storage ids, mapping(uint256 => Request) storage requests)
        private
        view
        returns (uint256 sum)
    {
        for (uint256 i = 0; i < ids.length; i++) {
            sum += requests[ids[i]].claimable;
        }
    }

    function _sumGiven(uint256[] storage ids, mapping(uint256 => Request) storage requests)
        private
        view
        returns (uint256 sum)
    {
        for (uint256 i = 0; i < ids.length; i++) {
            sum += requests[ids[i]].given;
        }
    }
}
