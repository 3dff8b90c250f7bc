// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

interface IBeforeTransfer {
    function beforeTransfer(address from, address to, address operator) external view;
}

/// @title A vault with the published behaviour of Veda's BoringVault, for tests
/// @notice A token of shares that holds the assets. Its teller lets assets in and out; the vault itself takes them by the
/// allowance of the depositor. A hook may refuse a transfer; mints and burns are not shown to it.
contract VedaVault is ERC20 {
    using SafeERC20 for IERC20;

    address public immutable owner = msg.sender;
    address public hook;
    mapping(address caller => bool) public isMinter;
    uint8 private immutable _decimals;

    event Enter(address indexed from, address indexed asset, uint256 amount, address indexed to, uint256 shares);
    event Exit(address indexed to, address indexed asset, uint256 amount, address indexed from, uint256 shares);

    modifier onlyMinter() {
        require(isMinter[msg.sender], "UNAUTHORIZED");
        _;
    }

    constructor(uint8 decimals_) ERC20("Liquid", "liquidTUSD") {
        _decimals = decimals_;
    }

    function setMinter(address caller, bool is_) external {
        require(msg.sender == owner, "UNAUTHORIZED");
        isMinter[caller] = is_;
    }

    function setBeforeTransferHook(address hook_) external {
        require(msg.sender == owner, "UNAUTHORIZED");
        hook = hook_;
    }

    function enter(address from, address asset, uint256 amount, address to, uint256 shares) external onlyMinter {
        if (amount > 0) IERC20(asset).safeTransferFrom(from, address(this), amount);
        _mint(to, shares);
        emit Enter(from, asset, amount, to, shares);
    }

    function exit(address to, address asset, uint256 amount, address from, uint256 shares) external onlyMinter {
        _burn(from, shares);
        if (amount > 0) IERC20(asset).safeTransfer(to, amount);
        emit Exit(to, asset, amount, from, shares);
    }

    function transfer(address to, uint256 shares) public override returns (bool) {
        if (hook != address(0)) IBeforeTransfer(hook).beforeTransfer(msg.sender, to, msg.sender);
        return super.transfer(to, shares);
    }

    function transferFrom(address from, address to, uint256 shares) public override returns (bool) {
        if (hook != address(0)) IBeforeTransfer(hook).beforeTransfer(from, to, msg.sender);
        return super.transferFrom(from, to, shares);
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }
}

/// @title An accountant with the published behaviour of Veda's, for tests
/// @notice It keeps the price of a share in the base asset. A new price beyond its bounds, or too soon, pauses it.
contract VedaAccountant {
    struct State {
        address payoutAddress;
        uint96 highwaterMark;
        uint128 feesOwedInBase;
        uint128 totalSharesLastUpdate;
        uint96 exchangeRate;
        uint16 allowedExchangeRateChangeUpper;
        uint16 allowedExchangeRateChangeLower;
        uint64 lastUpdateTimestamp;
        bool isPaused;
        uint24 minimumUpdateDelayInSeconds;
        uint16 managementFee;
        uint16 performanceFee;
    }

    address public immutable owner = msg.sender;
    VedaVault public immutable vault;
    address public immutable base;
    uint8 public immutable decimals;
    State public accountantState;

    error AccountantWithRateProviders__Paused();

    event ExchangeRateUpdated(uint96 oldRate, uint96 newRate, uint64 currentTime);

    modifier onlyOwner() {
        require(msg.sender == owner, "UNAUTHORIZED");
        _;
    }

    constructor(VedaVault vault_, address base_, uint96 rate) {
        (vault, base, decimals) = (vault_, base_, IERC20Metadata(base_).decimals());
        accountantState.exchangeRate = rate;
        (accountantState.allowedExchangeRateChangeUpper, accountantState.allowedExchangeRateChangeLower) = (20_000, 5000);
        accountantState.lastUpdateTimestamp = uint64(block.timestamp);
    }

    function pause() external onlyOwner {
        accountantState.isPaused = true;
    }

    function unpause() external onlyOwner {
        accountantState.isPaused = false;
    }

    function updateExchangeRate(uint96 rate) external onlyOwner {
        State storage state = accountantState;
        if (state.isPaused) revert AccountantWithRateProviders__Paused();
        uint96 old = state.exchangeRate;
        uint256 most = uint256(old) * state.allowedExchangeRateChangeUpper / 10_000;
        uint256 least = uint256(old) * state.allowedExchangeRateChangeLower / 10_000;
        if (rate > most || rate < least) state.isPaused = true;
        (state.exchangeRate, state.lastUpdateTimestamp) = (rate, uint64(block.timestamp));
        emit ExchangeRateUpdated(old, rate, uint64(block.timestamp));
    }

    function getRate() public view returns (uint256) {
        return accountantState.exchangeRate;
    }

    function getRateSafe() external view returns (uint256) {
        if (accountantState.isPaused) revert AccountantWithRateProviders__Paused();
        return getRate();
    }

    function getRateInQuoteSafe(address quote) external view returns (uint256) {
        if (accountantState.isPaused) revert AccountantWithRateProviders__Paused();
        require(quote == base, "NO RATE");
        return getRate();
    }
}
