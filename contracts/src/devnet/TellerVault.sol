// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title Shares that are bought and sold at a teller beside them, for development chains and tests
/// @notice The vault is the token of its shares and nothing else: deposits, withdrawals and the price of a share are the
/// {Teller}'s, which it deploys.
contract TellerVault is ERC20 {
    Teller private immutable _teller;

    /// @notice Only the teller mints and burns.
    error NotTheTeller(address caller);

    modifier onlyTeller() {
        if (msg.sender != address(_teller)) revert NotTheTeller(msg.sender);
        _;
    }

    /// @param asset_ the token the teller takes and pays.
    constructor(IERC20Metadata asset_, string memory name_, string memory symbol_) ERC20(name_, symbol_) {
        _teller = new Teller(this, asset_);
    }

    function mint(address to, uint256 shares) external onlyTeller {
        _mint(to, shares);
    }

    function burn(address from, uint256 shares) external onlyTeller {
        _burn(from, shares);
    }

    /// @notice The token that shares are bought with.
    function asset() external view returns (address) {
        return _teller.asset();
    }

    /// @notice Where shares are bought and sold.
    function teller() external view returns (address) {
        return address(_teller);
    }
}

/// @title The teller of a {TellerVault}: it holds the assets, sells shares for them and takes shares back
contract Teller {
    using SafeERC20 for IERC20;

    uint256 private constant SHARE_UNIT = 1e18;

    TellerVault private immutable _vault;
    IERC20 private immutable _asset;
    uint256 private immutable _assetUnit;

    /// @notice Nothing would be given for it.
    error TooLittle();

    event Bought(address indexed payer, address indexed holder, uint256 paid, uint256 shares);
    event Sold(address indexed holder, address indexed receiver, uint256 shares, uint256 paid);

    constructor(TellerVault vault_, IERC20Metadata asset_) {
        _vault = vault_;
        _asset = asset_;
        _assetUnit = 10 ** asset_.decimals();
    }

    /// @notice Takes `paid` of the asset from the caller and gives `holder` shares for it.
    function buy(uint256 paid, address holder) external returns (uint256 shares) {
        shares = (paid * SHARE_UNIT) / rate();
        if (shares == 0) revert TooLittle();
        _asset.safeTransferFrom(msg.sender, address(this), paid);
        _vault.mint(holder, shares);
        emit Bought(msg.sender, holder, paid, shares);
    }

    /// @notice Takes shares of the caller and pays `receiver` for them.
    function sell(uint256 shares, address receiver) external returns (uint256 paid) {
        paid = (shares * rate()) / SHARE_UNIT;
        if (paid == 0) revert TooLittle();
        _vault.burn(msg.sender, shares);
        _asset.safeTransfer(receiver, paid);
        emit Sold(msg.sender, receiver, shares, paid);
    }

    function asset() external view returns (address) {
        return address(_asset);
    }

    /// @notice What a whole share is worth, in smallest units of the asset.
    function rate() public view returns (uint256) {
        uint256 supply = _vault.totalSupply();
        return supply == 0 ? _assetUnit : (_asset.balanceOf(address(this)) * SHARE_UNIT) / supply;
    }
}
