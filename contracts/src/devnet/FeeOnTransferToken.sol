// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token that burns a part of every transfer, for tests of refusal
contract FeeOnTransferToken is ERC20, Ownable {
    uint8 private immutable _decimals;
    uint256 private immutable _feeBps;

    /// @param feeBps_ what a transfer burns, in hundredths of a percent of the amount.
    constructor(string memory name_, string memory symbol_, uint8 decimals_, uint256 feeBps_)
        ERC20(name_, symbol_)
        Ownable(msg.sender)
    {
        _decimals = decimals_;
        _feeBps = feeBps_;
    }

    function mint(address to, uint256 amount) external onlyOwner {
        _mint(to, amount);
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    /// @notice What a transfer burns, in hundredths of a percent.
    function feeBps() external view returns (uint256) {
        return _feeBps;
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (from == address(0) || to == address(0)) {
            super._update(from, to, amount);
            return;
        }
        uint256 fee = (amount * _feeBps) / 10_000;
        super._update(from, address(0), fee);
        super._update(from, to, amount - fee);
    }
}
