import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answered, frontend, port } from './fixture.ts';
import { chosenPort, portText } from './port-choice.ts';
import { similarService } from './similar-service.ts';

const FRONTENDS = [frontend(answered(['10.244.1.1:80']))];
const PORTS = [
  port(FRONTENDS, [], { name: 'dns', protocol: 'UDP' }),
  port(FRONTENDS, [], { name: 'dns', protocol: 'UDP', family: 'IPv6' }),
  port(FRONTENDS, [], { name: '' }),
];

describe('what the address of a Service names', () => {
  test('PAGE-76 a port by its name, or by its number if it has no name, and a family', () => {
    assert.equal(chosenPort(PORTS, {}), PORTS[0]);
    assert.equal(chosenPort(PORTS, { port: 'dns', family: 'IPv6' }), PORTS[1]);
    assert.equal(chosenPort(PORTS, { port: '80' }), PORTS[2]);
    assert.equal(chosenPort(PORTS, { port: 'gone' }), PORTS[0]);
    assert.equal(chosenPort([], {}), undefined);
  });

  test('PAGE-76 the text of a port has the family if there are two', () => {
    assert.deepEqual(
      PORTS.map(each => portText(each, true)),
      ['dns 80/UDP IPv4', 'dns 80/UDP IPv6', '80/TCP IPv4'],
    );
  });

  test('PAGE-77 a name that does not exist leads to the nearest one', () => {
    const known = ['default/web', 'default/cart', 'shop/pay'];
    assert.equal(similarService('default/wbe', known), 'default/web');
    assert.equal(similarService('default/pay', known), 'shop/pay');
    assert.equal(similarService('default/something', known), undefined);
  });
});
