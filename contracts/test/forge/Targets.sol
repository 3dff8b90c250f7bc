// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {vm} from "./Vm.sol";

/// @dev What forge may call while it looks for a broken invariant: the steps of one handler, and nothing else.
abstract contract Targets {
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function target() internal view virtual returns (address);

    function steps() internal view virtual returns (bytes4[] memory);

    function targetSelectors() external view returns (FuzzSelector[] memory targets) {
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(target(), steps());
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = target();
    }

    /// @dev So many steps, drawn from a seed; each has to succeed.
    function draw(uint256 count) internal {
        bytes4[] memory selectors = steps();
        uint256 seed = uint256(keccak256("reach"));
        for (uint256 i = 0; i < count; i++) {
            seed = uint256(keccak256(abi.encode(seed)));
            bytes4 selector = selectors[(seed >> 200) % selectors.length];
            bytes memory data =
                abi.encodePacked(selector, seed, seed >> 8, seed >> 16, uint256(uint40(seed)), uint256(uint48(seed >> 40)));
            (bool succeeded, bytes memory answer) = target().call(data);
            vm.assertTrue(succeeded, string(answer));
        }
    }
}
