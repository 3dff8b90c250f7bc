// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @dev A token that anybody mints and moves without an allowance, and that takes a fee once it is told to.
contract OpenToken is ERC20("Open", "OPEN") {
    uint256 private _fee;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function move(address from, address to, uint256 amount) external {
        _transfer(from, to, amount);
    }

    /// @dev From now on so much of every transfer is burned, as far as there is so much.
    function setFee(uint256 fee) external {
        _fee = fee;
    }

    function _update(address from, address to, uint256 amount) internal override {
        uint256 fee = from == address(0) || to == address(0) ? 0 : (_fee < amount ? _fee : amount);
        if (fee != 0) super._update(from, address(0), fee);
        super._update(from, to, amount - fee);
    }
}
