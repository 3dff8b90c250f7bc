// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import {DepositRouter} from "../../src/router/DepositRouter.sol";
import {Targets} from "./Targets.sol";
import {ToldVault} from "./ToldVault.sol";
import {OpenToken} from "./tokens/OpenToken.sol";
import {vm} from "./Vm.sol";

/// @dev Deposits of anybody through the router into vaults and of tokens that change their ways at random.
contract RouterHandler {
    struct Tally {
        uint256 deposits;
        uint256 refusals;
        uint256 donations;
        uint256 belowMinimum;
    }

    DepositRouter private immutable _router = new DepositRouter();
    OpenToken[2] private _tokens;
    ToldVault[3] private _vaults;
    address[3] private _people = [address(0x3001), address(0x3002), address(0x3003)];
    mapping(OpenToken token => uint256) private _donated;
    Tally private _tally;
    bool private _minimumBroken;
    bool private _othersMoved;

    constructor() {
        _tokens = [new OpenToken(), new OpenToken()];
        _vaults = [new ToldVault(_tokens[0]), new ToldVault(_tokens[0]), new ToldVault(_tokens[1])];
        for (uint256 i = 0; i < 3; i++) {
            for (uint256 j = 0; j < 2; j++) {
                vm.prank(_people[i]);
                _tokens[j].approve(address(_router), type(uint256).max);
            }
        }
    }

    /// @dev Most vaults keep their word, so that most deposits go through.
    function tell(uint256 vaultSeed, uint256 waySeed, uint256 share, uint256 personSeed) external {
        ToldVault.Orders memory orders;
        (orders.takes, orders.gives) = (100, 50 + share % 100);
        uint256 way = waySeed % 8;
        if (way == 0) orders.takes = share % 200;
        if (way == 1) orders.paysBack = share % 101;
        if (way == 2) orders.to = _people[personSeed % 3];
        if (way == 3 || way == 0) orders.ignoresAllowance = true;
        if (way == 4) {
            orders.callsBack = abi.encodeCall(
                DepositRouter.depositWithMinimum, (IERC4626(address(_vaults[personSeed % 3])), share, _people[0], 1)
            );
        }
        _vaults[vaultSeed % 3].order(orders);
    }

    function setFee(uint256 tokenSeed, uint256 feeSeed) external {
        _tokens[tokenSeed % 2].setFee(feeSeed % 4 == 0 ? feeSeed % 100 : 0);
    }

    function donate(uint256 tokenSeed, uint256 amount) external {
        OpenToken token = _tokens[tokenSeed % 2];
        amount %= 1e24;
        token.mint(address(_router), amount);
        _donated[token] += amount;
        _tally.donations++;
    }

    function deposit(uint256 vaultSeed, uint256 callerSeed, uint256 receiverSeed, uint256 assets, uint256 minimum)
        external
    {
        ToldVault vault = _vaults[vaultSeed % 3];
        OpenToken token = OpenToken(vault.asset());
        address caller = _people[callerSeed % 3];
        address receiver = _people[receiverSeed % 3];
        assets = 1 + assets % 1e24;
        minimum = minimum % 2 == 0 ? assets / 2 : 1 + minimum % (assets * 2);
        token.mint(caller, assets);
        uint256[3] memory shares = sharesOf(vault);
        uint256[3] memory held = heldOf(token);
        vm.prank(caller);
        try _router.depositWithMinimum(IERC4626(address(vault)), assets, receiver, minimum) returns (uint256 given) {
            _tally.deposits++;
            for (uint256 i = 0; i < 3; i++) {
                bool isReceiver = _people[i] == receiver;
                uint256 grown = vault.balanceOf(_people[i]) - shares[i];
                if (isReceiver ? grown < minimum || grown != given : grown != 0) _minimumBroken = true;
                if (token.balanceOf(_people[i]) != held[i] - (_people[i] == caller ? assets : 0)) _othersMoved = true;
            }
        } catch (bytes memory reason) {
            _tally.refusals++;
            if (bytes4(reason) == DepositRouter.SharesBelowMinimum.selector) _tally.belowMinimum++;
            token.move(caller, address(this), assets > token.balanceOf(caller) ? token.balanceOf(caller) : assets);
        }
    }

    function check12() external view {
        for (uint256 j = 0; j < 2; j++) {
            vm.assertEq(_tokens[j].balanceOf(address(_router)), _donated[_tokens[j]], "it has what it was sent by itself");
        }
        for (uint256 i = 0; i < 3; i++) {
            vm.assertEq(_vaults[i].balanceOf(address(_router)), 0, "it has no shares");
            OpenToken token = OpenToken(_vaults[i].asset());
            vm.assertEq(token.allowance(address(_router), address(_vaults[i])), 0, "no approval is left");
        }
        vm.assertFalse(_minimumBroken, "at least the minimum goes to the receiver, and nobody else gets shares");
        vm.assertFalse(_othersMoved, "exactly the amount is taken, and from the caller alone");
    }

    function readTally() external view returns (Tally memory) {
        return _tally;
    }

    function sharesOf(ToldVault vault) private view returns (uint256[3] memory shares) {
        for (uint256 i = 0; i < 3; i++) {
            shares[i] = vault.balanceOf(_people[i]);
        }
    }

    function heldOf(OpenToken token) private view returns (uint256[3] memory held) {
        for (uint256 i = 0; i < 3; i++) {
            held[i] = token.balanceOf(_people[i]);
        }
    }
}

abstract contract RouterInvariantsSetUp is Targets {
    RouterHandler internal handler;

    function setUp() public {
        handler = new RouterHandler();
    }

    function target() internal view override returns (address) {
        return address(handler);
    }

    /// @dev Deposits twice as often as anything else.
    function steps() internal view override returns (bytes4[] memory selectors) {
        selectors = new bytes4[](5);
        selectors[0] = handler.deposit.selector;
        selectors[1] = handler.deposit.selector;
        selectors[2] = handler.tell.selector;
        selectors[3] = handler.setFee.selector;
        selectors[4] = handler.donate.selector;
    }
}

/// @dev The number is that of INVARIANTS.md. It is checked after every step.
contract RouterInvariantsTest is RouterInvariantsSetUp {
    function invariant_12_theRouterHoldsNothingAndNeverGivesLessThanTheMinimum() external view {
        handler.check12();
    }
}

contract RouterHandlerTest is RouterInvariantsSetUp {
    function test_theHandlerReachesEverything() external {
        draw(1000);
        RouterHandler.Tally memory tally = handler.readTally();
        vm.assertLe(100, tally.deposits, "deposits");
        vm.assertLe(50, tally.refusals, "refusals");
        vm.assertLe(20, tally.belowMinimum, "below the minimum");
        vm.assertLe(50, tally.donations, "donations");
    }
}
