// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {OpenToken} from "./tokens/OpenToken.sol";

/// @dev A wrapper that does what it is told: takes more or less, gives more or less, gives it to somebody else, pays another
/// token, ignores its allowance, calls back. It has the calls of all wrappers there are.
contract ToldWrapper is ERC20("Told", "TOLD") {
    struct Orders {
        /// Of 100 it is given it takes so many.
        uint256 takes;
        /// Of 100 it gives so many.
        uint256 gives;
        /// Who gets it; zero: whom it is told.
        address to;
        /// What it pays; zero: the token it wraps.
        OpenToken pays;
        bool ignoresAllowance;
        bytes callsBack;
    }

    OpenToken private immutable _token;
    Orders private _orders;
    bytes private _answer;

    constructor(OpenToken token_) {
        _token = token_;
        (_orders.takes, _orders.gives) = (100, 100);
    }

    function order(Orders calldata orders) external {
        _orders = orders;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function wrap(uint256 amount) external returns (uint256) {
        _take(amount);
        return _give(msg.sender, amount);
    }

    function depositATokens(uint256 amount, address receiver) external returns (uint256) {
        _take(amount);
        return _give(receiver, amount);
    }

    function unwrap(uint256 amount) external returns (uint256) {
        _callBack();
        _burn(msg.sender, amount * _orders.takes / 100);
        return _pay(msg.sender, amount);
    }

    function redeem(uint256 shares, address receiver, address owner) external returns (uint256) {
        return _redeem(shares, receiver, owner);
    }

    function redeemATokens(uint256 shares, address receiver, address owner) external returns (uint256) {
        return _redeem(shares, receiver, owner);
    }

    /// @dev What the call back reverted with.
    function lastAnswer() external view returns (bytes memory) {
        return _answer;
    }

    function _take(uint256 amount) private {
        _callBack();
        uint256 taken = amount * _orders.takes / 100;
        if (_orders.ignoresAllowance) _token.move(msg.sender, address(this), taken);
        else _token.transferFrom(msg.sender, address(this), taken);
    }

    function _give(address to, uint256 amount) private returns (uint256) {
        _mint(_orders.to == address(0) ? to : _orders.to, amount * _orders.gives / 100);
        return amount;
    }

    function _redeem(uint256 shares, address receiver, address owner) private returns (uint256) {
        _callBack();
        _spendAllowance(owner, msg.sender, shares);
        _burn(owner, shares);
        return _pay(receiver, shares);
    }

    function _pay(address to, uint256 amount) private returns (uint256) {
        OpenToken pays = address(_orders.pays) == address(0) ? _token : _orders.pays;
        pays.mint(_orders.to == address(0) ? to : _orders.to, amount * _orders.gives / 100);
        return amount;
    }

    function _callBack() private {
        if (_orders.callsBack.length == 0) return;
        bool succeeded;
        (succeeded, _answer) = msg.sender.call(_orders.callsBack);
        require(!succeeded, "called back");
    }
}
