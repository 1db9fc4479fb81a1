console.log('pointsman');
