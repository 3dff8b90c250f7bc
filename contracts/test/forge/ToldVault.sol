// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {OpenToken} from "./tokens/OpenToken.sol";

/// @dev A vault that does what it is told: takes more or less, gives more or fewer shares, to somebody else, says another
/// number than it gives, ignores its allowance, pays back, calls back.
contract ToldVault is ERC20("Told", "TOLD") {
    struct Orders {
        /// Of 100 it is given it takes so many.
        uint256 takes;
        /// Of 100 shares it gives so many.
        uint256 gives;
        /// Of 100 it takes it pays so many back to the caller.
        uint256 paysBack;
        /// Who gets the shares; zero: whom it is told.
        address to;
        bool ignoresAllowance;
        bytes callsBack;
    }

    OpenToken private immutable _asset;
    Orders private _orders;
    bytes private _answer;

    constructor(OpenToken asset_) {
        _asset = asset_;
        _orders.takes = 100;
        _orders.gives = 100;
    }

    function order(Orders calldata orders) external {
        _orders = orders;
    }

    function asset() external view returns (address) {
        return address(_asset);
    }

    /// @dev What the call back reverted with.
    function lastAnswer() external view returns (bytes memory) {
        return _answer;
    }

    function deposit(uint256 assets, address receiver) external returns (uint256) {
        uint256 taken = assets * _orders.takes / 100;
        if (_orders.ignoresAllowance) _asset.move(msg.sender, address(this), taken);
        else _asset.transferFrom(msg.sender, address(this), taken);
        if (_orders.paysBack != 0) _asset.transfer(msg.sender, taken * _orders.paysBack / 100);
        if (_orders.callsBack.length != 0) {
            bool succeeded;
            (succeeded, _answer) = msg.sender.call(_orders.callsBack);
            require(!succeeded, "called back");
        }
        _mint(_orders.to == address(0) ? receiver : _orders.to, assets * _orders.gives / 100);
        return assets;
    }

    /// @dev Takes shares away again.
    function burn(address from, uint256 shares) external {
        _burn(from, shares);
    }
}
